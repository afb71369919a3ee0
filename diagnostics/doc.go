// Package diagnostics holds problems in code, whoever found them, and says what
// a change did to them.
//
// A language server or a named check is a [Producer]. Everything that the
// producers said about one state of the code is a [Snapshot], made with a
// [Builder], which bounds and cleans what it is given and counts what it had to
// leave out. Two snapshots are compared in one of two ways:
//
//   - [Exact] takes file, source, line, character and code as identity. A blank
//     line above a problem makes it another problem.
//   - [Compare] follows problems through the change: files that were renamed,
//     lines that shifted, a symbol that got another name. It answers
//     introduced, fixed, unchanged or unknown, and never calls a problem fixed
//     when the producer that reported it was not heard.
//
// The change itself comes from the caller through [FileMap], [LineMap] and
// [Contents]; the package reads no file and runs no program.
//
//	base, head := before.Snapshot(), after.Snapshot()
//	delta, err := diagnostics.Compare(base, head, &diagnostics.Options{
//		Files:   diagnostics.NewFileChanges(diagnostics.FileChange{Old: "a.go", New: "b.go"}),
//		Lines:   diagnostics.Hunks{"a.go": {{OldStart: 3, OldLines: 1, NewStart: 3, NewLines: 2}}},
//		Renames: []diagnostics.SymbolRename{{Old: "Server", New: "Host"}},
//	})
//	fmt.Print(delta.Text(nil))
package diagnostics
