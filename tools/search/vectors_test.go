package search

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

type vector struct {
	ID    string
	Tool  string
	Setup []struct {
		Path, Text, Base64, Link string
		Dir                      bool
	}
	Args   json.RawMessage
	Expect struct {
		Error        string
		Text         *string
		TextIncludes []string
		Lines        []string
		Count        *int
		Metadata     map[string]any
	}
}

// vectorArgs are the inputs of the three tools, as they come over the wire.
type vectorArgs struct {
	Query, Path, Pattern                     string
	Mode                                     Mode
	OutputMode                               OutputMode
	CaseSensitive, IncludeHidden             bool
	BraceExpansion                           *bool
	MaxDepth, MaxResults, Offset, MaxMatches *int64
	Context                                  *int64
}

// TestVectors runs the cases of the tools' contract, with both ways of finding
// files.
func TestVectors(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "testdata", "vectors", "core-tools.jsonl"))
	must(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 4<<20)
	ran, shared := 0, runner(t)
	for lines.Scan() {
		var v vector
		must(t, json.Unmarshal(lines.Bytes(), &v))
		if v.Tool != "repo_list" && v.Tool != "repo_search" && v.Tool != "glob" {
			continue
		}
		ran++
		t.Run(v.ID, func(t *testing.T) {
			root := v.workspace(t)
			v.check(t, open(t, root, nil))
			gitIn(t, root, "init", "-q")
			v.check(t, open(t, root, &Options{Git: shared}))
		})
	}
	must(t, lines.Err())
	if ran < 40 {
		t.Fatalf("%d vectors are about these tools, expected at least 40", ran)
	}
}

func (v *vector) workspace(t *testing.T) string {
	files := map[string]string{}
	for _, item := range v.Setup {
		switch {
		case item.Link != "":
			files[item.Path+" -> "+item.Link] = ""
		case item.Dir:
			files[item.Path+"/"] = ""
		case item.Base64 != "":
			data, err := base64.StdEncoding.DecodeString(item.Base64)
			must(t, err)
			files[item.Path] = string(data)
		default:
			files[item.Path] = item.Text
		}
	}
	return tree(t, files)
}

func (v *vector) check(t *testing.T, s *Searcher) {
	t.Helper()
	text, metadata, err := v.call(t, s)
	if v.Expect.Error != "" {
		if got := tools.AsError(err); got == nil || string(got.Code) != v.Expect.Error {
			t.Fatalf("error %v, want %s", err, v.Expect.Error)
		}
		return
	}
	must(t, err)
	if v.Expect.Text != nil && text != *v.Expect.Text {
		t.Errorf("text\n%s\nwant\n%s", text, *v.Expect.Text)
	}
	for _, part := range v.Expect.TextIncludes {
		if !strings.Contains(text, part) {
			t.Errorf("text\n%s\nlacks %q", text, part)
		}
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.HasPrefix(line, "[") })
	if v.Expect.Count != nil && len(lines) != *v.Expect.Count {
		t.Errorf("%d lines, want %d:\n%s", len(lines), *v.Expect.Count, text)
	}
	if want := slices.Sorted(slices.Values(v.Expect.Lines)); len(want) > 0 && !slices.Equal(slices.Sorted(slices.Values(lines)), want) {
		t.Errorf("lines\n%s\nwant\n%s", text, strings.Join(want, "\n"))
	}
	for name, want := range v.Expect.Metadata {
		if !reflect.DeepEqual(metadata[name], want) {
			t.Errorf("metadata %s is %v, want %v", name, metadata[name], want)
		}
	}
}

func (v *vector) call(t *testing.T, s *Searcher) (text string, metadata map[string]any, err error) {
	var args vectorArgs
	must(t, json.Unmarshal(v.Args, &args))
	var result interface{ Text() string }
	switch v.Tool {
	case "repo_list":
		result, err = s.List(t.Context(), ListQuery{Path: args.Path, IncludeHidden: args.IncludeHidden, MaxDepth: args.MaxDepth, MaxResults: args.MaxResults, Offset: args.Offset})
	case "glob":
		result, err = s.Glob(t.Context(), GlobQuery{Pattern: args.Pattern, Path: args.Path, IncludeHidden: args.IncludeHidden, BraceExpansion: args.BraceExpansion, MaxDepth: args.MaxDepth, MaxResults: args.MaxResults, Offset: args.Offset})
	default:
		result, err = s.Search(t.Context(), Query{Query: args.Query, Path: args.Path, Mode: args.Mode, CaseSensitive: args.CaseSensitive, IncludeHidden: args.IncludeHidden, Context: args.Context, MaxMatches: args.MaxMatches, OutputMode: args.OutputMode})
	}
	if err != nil {
		return "", nil, err
	}
	encoded, err := json.Marshal(result)
	must(t, err)
	must(t, json.Unmarshal(encoded, &metadata))
	return result.Text(), metadata, nil
}
