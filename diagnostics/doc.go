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
//     lines that shifted, were edited or moved elsewhere, a symbol that got another
//     name. It answers introduced, fixed, unchanged or unknown, and never calls a
//     problem fixed when the producer that reported it was not heard.
//
// The change itself comes from the caller: the texts of both sides through
// [Contents], which files were renamed through [FileMap], made of what
// git diff-tree says by [ParseRawDiff] and [RawFiles], and, where the caller knows
// them exactly, the changed lines through [LineMap]. The package reads no file and
// runs no program.
//
//	changes, err := diagnostics.ParseRawDiff(output) // of git diff-tree -r -z --raw -M50% base head
//	delta, err := diagnostics.Compare(before.Snapshot(), after.Snapshot(), &diagnostics.Options{
//		Files:    diagnostics.RawFiles(changes),
//		Contents: texts,
//		Renames:  []diagnostics.SymbolRename{{Old: "Server", New: "Host"}},
//	})
//	fmt.Print(delta.Text(&diagnostics.TextOptions{Contents: texts}))
//
// A delta is also written as SARIF by [Delta.SARIF] and as lines by [Lines];
// [IDs] names its problems for comments, and [Delta.ByChangedLines] shows what a
// filter by changed lines would make of it. docs/diagnostics.md tells people what
// the words mean and how well it does.
package diagnostics
