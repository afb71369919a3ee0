package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns JSON in the one form that equal values share (RFC 8785): keys
// sorted, no white space. A number that is no integer, a key that is there twice,
// invalid UTF-8 and more than MaxDepth levels are CodeToolInput.
func Canonical(text []byte) ([]byte, error) {
	if err := wholeNumbers(text); err != nil {
		return nil, err
	}
	value := jsontext.Value(append([]byte(nil), text...))
	if err := value.Canonicalize(); err != nil {
		return nil, Errorf(CodeToolInput, "not JSON that has one form: %w", err)
	}
	return value, nil
}

// wholeNumbers looks for what the canonical form would round or nest too deep.
func wholeNumbers(text []byte) error {
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	depth := 0
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil // the end, or what Canonicalize words better
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				if depth++; depth > MaxDepth {
					return Errorf(CodeToolInput, "JSON nests deeper than %d levels", MaxDepth)
				}
			} else {
				depth--
			}
		case json.Number:
			if number, err := token.Int64(); err != nil || number > maxExact || number < -maxExact {
				return Errorf(CodeToolInput, "%s is not an integer between -(2^53-1) and 2^53-1, and has no form of its own", token)
			}
		}
	}
}

// maxExact is the largest integer that every reader of JSON keeps (RFC 8259 §6).
const maxExact = 1<<53 - 1

// Fingerprint is the SHA-256, in hexadecimal, of the canonical form of value's JSON.
func Fingerprint(value any) (string, error) {
	text, err := encode(value)
	if err != nil {
		return "", Errorf(CodeToolInput, "not a value with a fingerprint: %w", err)
	}
	canonical, err := Canonical(text)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}
