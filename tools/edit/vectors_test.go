package edit

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

// vector is one behaviour vector of the edit tool; see testdata/vectors.
type vector struct {
	ID    string        `json:"id"`
	Tool  string        `json:"tool"`
	Setup []vectorState `json:"setup"`
	Args  struct {
		Path  string          `json:"path"`
		Edits json.RawMessage `json:"edits"`
	} `json:"args"`
	Expect struct {
		Error    tools.Code             `json:"error"`
		Fuzzy    *bool                  `json:"fuzzy"`
		Changed  map[string]vectorState `json:"changed"`
		Metadata struct {
			FirstChangedLine *int `json:"firstChangedLine"`
		} `json:"metadata"`
	} `json:"expect"`
}

type vectorState struct {
	Path   string `json:"path"`
	Text   string `json:"text"`
	Base64 string `json:"base64"`
	Dir    bool   `json:"dir"`
}

func (s vectorState) bytes(t *testing.T) []byte {
	if s.Base64 == "" {
		return []byte(s.Text)
	}
	data, err := base64.StdEncoding.DecodeString(s.Base64)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// outside are the vectors that never reach matching: they are about schemas
// and directories.
var outside = map[string]bool{
	"edit2/directory": true, "edit2/single-edit-object-instead-of-array": true,
	"edit/missing-edits": true, "edit/edit-missing-new": true, "edit/directory": true,
}

func TestVectors(t *testing.T) {
	ran := 0
	for _, name := range []string{"edit.jsonl", "core-tools.jsonl"} {
		f, err := os.Open("../../testdata/vectors/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var head struct{ ID, Tool string }
			if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
				t.Fatal(err)
			}
			if head.Tool != "edit" || outside[head.ID] {
				continue
			}
			var v vector
			if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
				t.Fatalf("%s: %v", head.ID, err)
			}
			ran++
			t.Run(v.ID, func(t *testing.T) { runVector(t, v) })
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if ran < 80 {
		t.Errorf("only %d vectors ran", ran)
	}
}

func runVector(t *testing.T, v vector) {
	var wire []struct{ OldText, NewText string }
	if err := json.Unmarshal(v.Args.Edits, &wire); err != nil {
		t.Fatal(err)
	}
	var edits []Replacement
	for _, e := range wire {
		edits = append(edits, Replacement{Old: e.OldText, New: e.NewText})
	}
	original := v.Setup[0].bytes(t)
	res, err := Apply(original, edits, nil)
	if v.Expect.Error != "" {
		if !errors.Is(err, v.Expect.Error) {
			t.Fatalf("got %v, want %s", err, v.Expect.Error)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if want := v.Expect.Changed[v.Args.Path].bytes(t); string(res.Data) != string(want) {
		t.Errorf("got %q, want %q", res.Data, want)
	}
	if want := v.Expect.Fuzzy; want != nil && *want != res.Fuzzy {
		t.Errorf("fuzzy is %v", res.Fuzzy)
	}
	if want := v.Expect.Metadata.FirstChangedLine; want != nil && *want != res.FirstChangedLine {
		t.Errorf("first changed line is %d, want %d", res.FirstChangedLine, *want)
	}
	checkSpans(t, original, res)
}
