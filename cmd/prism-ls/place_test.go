package main

import (
	"errors"
	"reflect"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

func TestPlaceOf(t *testing.T) {
	for text, want := range map[string]request{
		"Type.Method":      {Symbol: "Type.Method"},
		"Class/method":     {Symbol: "Class/method"},
		"ns::Class::f":     {Symbol: "ns::Class::f"},
		"a/b.go:12:3":      {Path: "a/b.go", Line: 12, Column: 3},
		"a/b.go:12:parse":  {Path: "a/b.go", Line: 12, Symbol: "parse"},
		"a/b.go:T.Method":  {Path: "a/b.go", Symbol: "T.Method"},
		"odd:name.go:1:2":  {Path: "odd:name.go", Line: 1, Column: 2},
		"日本.go:1:é":        {Path: "日本.go", Line: 1, Symbol: "é"},
		"a.go:12:Type.Mth": {Path: "a.go", Line: 12, Symbol: "Type.Mth"},
	} {
		got, err := placeOf(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"a.go:12", "a.go:", ":12:3", "a.go:x:y"} {
		if _, err := placeOf(text); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
