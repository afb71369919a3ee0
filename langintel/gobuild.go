package langintel

import (
	"bytes"
	"go/build/constraint"
	"path"
	"runtime"
	"slices"
	"strings"
)

// The systems and architectures that can stand in a file's name or in a build
// constraint (cmd/go, "Build constraints"; `go tool dist list`, and those of the
// past and of other compilers that the go command knows too).
const (
	goSystems = "aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos"
	goUnixes  = "aix android darwin dragonfly freebsd hurd illumos ios linux netbsd openbsd solaris"
	goArches  = "386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm"
)

// goExcluded reports a Go file that is for another system or architecture, or for
// no build at all. gopls sees the packages of one build; asked about a file
// outside of it, it has the go command look for one each time.
func goExcluded(env []string, name string, source []byte) string {
	if path.Ext(name) != ".go" {
		return ""
	}
	system, arch := lookupEnv(env, "GOOS"), lookupEnv(env, "GOARCH")
	if system == "" {
		system = runtime.GOOS
	}
	if arch == "" {
		arch = runtime.GOARCH
	}
	target := goTarget{system, arch}
	if target.namedFor(path.Base(name)) && target.constrained(source) != never {
		return ""
	}
	return "it is not for " + system + "/" + arch + ", which is what is checked"
}

// goTarget is what a build is for.
type goTarget struct{ system, arch string }

// verdict is whether a constraint holds, as far as the target says.
type verdict int

const (
	never verdict = iota
	perhaps
	always
)

// tag judges one tag. Tags of the host's own choosing may be set.
func (t goTarget) tag(name string) verdict {
	has := func(list string) bool { return slices.Contains(strings.Fields(list), name) }
	is := func(yes bool) verdict {
		if yes {
			return always
		}
		return never
	}
	switch {
	case name == "ignore": // by convention in no build
		return never
	case name == "unix":
		return is(slices.Contains(strings.Fields(goUnixes), t.system))
	case has(goSystems):
		// The go command takes these pairs as one.
		return is(name == t.system || name == "linux" && t.system == "android" || name == "solaris" && t.system == "illumos" || name == "darwin" && t.system == "ios")
	case has(goArches):
		return is(name == t.arch)
	}
	return perhaps
}

func (t goTarget) eval(x constraint.Expr) verdict {
	switch x := x.(type) {
	case *constraint.NotExpr:
		return always - t.eval(x.X)
	case *constraint.AndExpr:
		return min(t.eval(x.X), t.eval(x.Y))
	case *constraint.OrExpr:
		return max(t.eval(x.X), t.eval(x.Y))
	case *constraint.TagExpr:
		return t.tag(x.Tag)
	}
	return perhaps
}

// namedFor judges the name: *_GOOS, *_GOARCH, *_GOOS_GOARCH, each also with _test
// behind.
func (t goTarget) namedFor(base string) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(base, ".go"), "_test")
	parts := strings.Split(name, "_")
	if len(parts) < 2 {
		return true
	}
	last := parts[len(parts)-1]
	if t.tag(last) == never && last != "ignore" && last != "unix" {
		return false
	}
	if len(parts) > 2 && slices.Contains(strings.Fields(goArches), last) {
		before := parts[len(parts)-2]
		return !slices.Contains(strings.Fields(goSystems), before) || t.tag(before) != never
	}
	return true
}

// constrained judges the //go:build line, which stands before the package clause.
func (t goTarget) constrained(source []byte) verdict {
	for line := range bytes.Lines(source) {
		text := strings.TrimSpace(string(line))
		if constraint.IsGoBuild(text) {
			if x, err := constraint.Parse(text); err == nil {
				return t.eval(x)
			}
			return perhaps
		}
		if text != "" && !strings.HasPrefix(text, "//") {
			return perhaps
		}
	}
	return perhaps
}
