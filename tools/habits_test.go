package tools_test

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// The size of things. Beyond a budget a reader should ask why; beyond a limit the
// test fails. Nine in ten stay within the budget.
const (
	fileBudget, fileLimit         = 400, 600
	functionBudget, functionLimit = 60, 100
)

func TestSizes(t *testing.T) {
	files, bigFiles, functions, bigFunctions := 0, 0, 0, 0
	for _, f := range sources(t) {
		files++
		lines := f.fset.File(f.ast.FileStart).LineCount()
		if lines > fileBudget {
			bigFiles++
		}
		if lines > fileLimit {
			t.Errorf("%s has %d lines, the limit is %d", f.name, lines, fileLimit)
		}
		for _, decl := range f.ast.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			functions++
			n := f.lines(function)
			if n > functionBudget {
				bigFunctions++
			}
			if n > functionLimit {
				t.Errorf("%s: %s has %d lines, the limit is %d", f.place(function), function.Name.Name, n, functionLimit)
			}
		}
	}
	if bigFiles*10 > files {
		t.Errorf("%d of %d files have more than %d lines", bigFiles, files, fileBudget)
	}
	if bigFunctions*10 > functions {
		t.Errorf("%d of %d functions have more than %d lines", bigFunctions, functions, functionBudget)
	}
}

// TestEnvironmentIsReadInOnePlace: configuration reads the environment and hands
// on options, so that a package does the same whoever embeds it.
func TestEnvironmentIsReadInOnePlace(t *testing.T) {
	readers := map[string]bool{
		"os.Getenv": true, "os.LookupEnv": true, "os.Environ": true, "os.ExpandEnv": true,
		"os.UserHomeDir": true, "os.UserCacheDir": true, "os.UserConfigDir": true,
		"syscall.Getenv": true, "syscall.Environ": true, "unix.Getenv": true, "unix.Environ": true,
	}
	for _, f := range sources(t) {
		if strings.HasPrefix(f.dir, "cmd/prism-ls/internal/config") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if name := selector(n); readers[name] {
				t.Errorf("%s: %s belongs in cmd/prism-ls/internal/config", f.place(n), name)
			}
			return true
		})
	}
}

// TestImportingStartsNothing: an init runs before anybody asked for anything.
func TestImportingStartsNothing(t *testing.T) {
	for _, f := range sources(t) {
		for _, decl := range f.ast.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && function.Recv == nil && function.Name.Name == "init" {
				t.Errorf("%s: func init", f.place(function))
			}
		}
	}
}

// TestErrorTextDecidesNothing: text is for people and changes; errors.Is and
// errors.As are for programs.
func TestErrorTextDecidesNothing(t *testing.T) {
	for _, f := range sources(t) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			for _, operand := range compared(n) {
				if holdsErrorText(operand) {
					t.Errorf("%s: a decision on an error's text", f.place(n))
				}
			}
			return true
		})
	}
}

// compared returns the operands of a node that decides something by text.
func compared(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			return []ast.Expr{n.X, n.Y}
		}
	case *ast.SwitchStmt:
		if n.Tag != nil {
			return []ast.Expr{n.Tag}
		}
	case *ast.CallExpr:
		name := selector(n.Fun)
		for _, decides := range []string{"Contains", "HasPrefix", "HasSuffix", "Index", "EqualFold", "Cut"} {
			if strings.HasPrefix(name, "strings."+decides) {
				return n.Args
			}
		}
		if strings.HasSuffix(name, ".MatchString") {
			return n.Args
		}
	}
	return nil
}

// holdsErrorText reports whether an expression calls a method Error without
// arguments.
func holdsErrorText(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 0 {
			if method, ok := call.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Error" {
				found = true
			}
		}
		return !found
	})
	return found
}

// selector is "x.Y" for the expression x.Y, else empty.
func selector(n ast.Node) string {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := s.X.(*ast.Ident); ok {
		return x.Name + "." + s.Sel.Name
	}
	return ""
}
