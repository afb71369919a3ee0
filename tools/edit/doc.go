// Package edit changes text without disturbing what it was not asked to
// change, and says what changed.
//
// [Apply] takes a file's bytes and a list of replacements. It matches each one
// on a view of the file in which encodings and line endings do not matter,
// first exactly and then normalised, and replaces only the bytes that matched:
// byte order marks, other lines' endings, invalid UTF-8 and trailing white
// space next to a match come through as they were. Every replacement is
// matched against the original, so their order does not matter.
//
//	res, err := edit.Apply(data, []edit.Replacement{{Old: "x = 1", New: "x = 2"}}, nil)
//	if errors.Is(err, tools.CodeAmbiguous) { … } // the message lists the lines
//	change := edit.Change{OldPath: "a.go", NewPath: "a.go", Old: data, New: res.Data}
//	fmt.Print(edit.PatchSpans(change, res.Spans)) // git apply takes this
//
// [Patch] and [PatchSpans] write patches that git apply(1) takes byte for byte,
// whatever the contents and whatever the path. [Display] writes a diff for
// reading. [Lines] gives the line hunks alone, for carrying line numbers from
// one version of a file to another. All of them are deterministic: the same
// input gives the same output on every run, however loaded the machine is.
//
// Everything here is a pure function over bytes; nothing touches a file.
package edit
