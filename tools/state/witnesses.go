package state

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// keptWitness is a witness whose path may be any bytes, which JSON's strings may not.
type keptWitness struct {
	tools.Witness
	// Raw is the path, if that is not UTF-8.
	Raw []byte `json:"raw,omitempty"`
}

// EncodeWitnesses returns witnesses as stores keep them.
func EncodeWitnesses(witnesses []tools.Witness) ([]byte, error) {
	list := make([]keptWitness, len(witnesses))
	for i, witness := range witnesses {
		list[i].Witness = witness
		if !utf8.ValidString(witness.Path) {
			list[i].Path, list[i].Raw = "", []byte(witness.Path)
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, tools.Errorf(tools.CodeToolInput, "witnesses that cannot be kept: %w", err)
	}
	return text, nil
}

// DecodeWitnesses is the reverse; none are nil. What is none of its is CodeStateUnavailable.
func DecodeWitnesses(text []byte) ([]tools.Witness, error) {
	var list []keptWitness
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "witnesses that cannot be read: %w", err)
	}
	var witnesses []tools.Witness
	for _, kept := range list {
		if kept.Raw != nil {
			kept.Path = string(kept.Raw)
		}
		witnesses = append(witnesses, kept.Witness)
	}
	return witnesses, nil
}
