package parse

import (
	"bytes"
	"errors"
	"fmt"
)

// maxStarts bounds how many lines are tried as the beginning of a document, since
// each try may read on to the end.
const maxStarts = 100

var errNoDocument = errors.New("there is no document of that form in the output")

// documents finds the documents in an output, each of which begins a line with one
// of the given bytes: package managers print lines of their own around what they
// run, and one document for each package. read returns how long the document is
// that text begins with.
func documents(output []byte, opening string, read func(text []byte) (int, error)) error {
	output = bytes.TrimPrefix(output, []byte("\xef\xbb\xbf"))
	found, failed := false, 0
	var first error
	for len(output) > 0 {
		text := bytes.TrimLeft(output, " \t\r\n")
		if len(text) == 0 {
			break
		}
		if bytes.IndexByte([]byte(opening), text[0]) >= 0 && failed < maxStarts {
			n, err := read(text)
			if err == nil && n > 0 {
				found = true
				output = text[n:]
				continue
			}
			failed++
			if first == nil {
				first = err
			}
		}
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			break
		}
		output = text[end+1:]
	}
	switch {
	case found:
		return nil
	case first != nil:
		return fmt.Errorf("%w: %w", errNoDocument, first)
	}
	return errNoDocument
}
