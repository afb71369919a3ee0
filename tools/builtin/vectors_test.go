package builtin_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// vector is one line of testdata/vectors: a workspace, a call, and what comes
// of it.
type vector struct {
	ID    string
	Tool  string
	Setup []struct {
		Path, Text, Base64, Link, Mode string
		Dir                            bool
	}
	Args   json.RawMessage
	Expect struct {
		Error                                     string
		ErrorIncludes, TextIncludes, TextExcludes []string
		Text                                      *string
		Lines                                     *[]string
		Count                                     *int
		Image                                     string
		Metadata                                  map[string]any
		Fuzzy                                     *bool
		AnyChange                                 bool
		Changed                                   map[string]*entryState
	}
}

// entryState is a file, directory or link as it is afterwards.
type entryState struct {
	Text, Base64, Link, Mode string
	Dir                      bool
}

func readVectors(t *testing.T, name string) []vector {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var list []vector
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var v vector
		decoder := json.NewDecoder(strings.NewReader(lines.Text()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list = append(list, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestVectors(t *testing.T) {
	old := syscall.Umask(0o022) // the modes in the vectors are for this one
	defer syscall.Umask(old)
	ran := 0
	for _, name := range []string{"core-tools.jsonl", "edit.jsonl"} {
		for _, v := range readVectors(t, name) {
			t.Run(v.ID, func(t *testing.T) { v.run(t) })
			ran++
		}
	}
	if ran != 188 {
		t.Errorf("ran %d vectors, there are 188", ran)
	}
}

func (v *vector) run(t *testing.T) {
	h := newHost(t, nil)
	v.prepare(t, h)
	before := snapshot(t, h.root)
	in := strings.ReplaceAll(string(v.Args), "$ROOT", h.root)
	result := h.registry.Call(t.Context(), v.Tool, []byte(in), callOptions())
	h.fits(result)
	v.compareChanges(t, before, snapshot(t, h.root))
	want := v.Expect
	if want.Error != "" {
		if result.Err == nil || string(result.Err.Code) != want.Error {
			t.Fatalf("error is %v, want %s; text %q", result.Err, want.Error, textOf(result))
		}
		for _, part := range want.ErrorIncludes {
			if !strings.Contains(result.Err.Message, part) {
				t.Errorf("error message %q lacks %q", result.Err.Message, part)
			}
		}
		return
	}
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	v.compareText(t, textOf(result))
	if want.Image != "" && !slices.ContainsFunc(result.Content, func(b block) bool { return b.Type == "image" && b.MIMEType == want.Image && len(b.Data) > 0 }) {
		t.Errorf("there is no image block of type %s", want.Image)
	}
	var metadata map[string]any
	if err := json.Unmarshal(result.Metadata, &metadata); err != nil {
		t.Fatal(err)
	}
	if want.Fuzzy != nil && (metadata["fuzzy"] == true) != *want.Fuzzy {
		t.Errorf("metadata.fuzzy is %v, want %v", metadata["fuzzy"], *want.Fuzzy)
	}
	compareFields(t, "metadata", metadata, want.Metadata)
}

func compareFields(t *testing.T, where string, got, want map[string]any) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		value, there := got[name]
		inner, isObject := want[name].(map[string]any)
		switch {
		case !there:
			t.Errorf("%s.%s is missing", where, name)
		case isObject:
			object, _ := value.(map[string]any)
			compareFields(t, where+"."+name, object, inner)
		case !reflect.DeepEqual(value, want[name]):
			t.Errorf("%s.%s is %v, want %v", where, name, value, want[name])
		}
	}
}

func (v *vector) compareText(t *testing.T, text string) {
	t.Helper()
	want := v.Expect
	if want.Text != nil && text != *want.Text {
		t.Errorf("text is\n%q\nwant\n%q", text, *want.Text)
	}
	for _, part := range want.TextIncludes {
		if !strings.Contains(text, part) {
			t.Errorf("text %.300q lacks %q", text, part)
		}
	}
	for _, part := range want.TextExcludes {
		if strings.Contains(text, part) {
			t.Errorf("text %.300q holds %.80q", text, part)
		}
	}
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if !strings.HasPrefix(line, "[truncated ") && !strings.HasPrefix(line, "[patterns ") {
			lines = append(lines, line)
		}
	}
	if want.Lines != nil {
		got, wanted := slices.Sorted(slices.Values(lines)), slices.Sorted(slices.Values(*want.Lines))
		if !slices.Equal(got, wanted) {
			t.Errorf("lines are\n%q\nwant\n%q", got, wanted)
		}
	}
	if want.Count != nil && len(lines) != *want.Count {
		t.Errorf("there are %d lines, want %d: %q", len(lines), *want.Count, lines)
	}
}

func (v *vector) prepare(t *testing.T, h *host) {
	t.Helper()
	for _, s := range v.Setup {
		path := h.path(s.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case s.Dir:
			err = os.MkdirAll(path, 0o755)
		case s.Link != "":
			err = os.Symlink(s.Link, path)
		case s.Base64 != "":
			var data []byte
			if data, err = base64.StdEncoding.DecodeString(s.Base64); err == nil {
				err = os.WriteFile(path, data, 0o644)
			}
		default:
			err = os.WriteFile(path, []byte(s.Text), 0o644)
		}
		if err == nil && s.Mode != "" {
			var mode fs.FileMode
			if _, err = fmt.Sscanf(s.Mode, "%o", &mode); err == nil {
				err = os.Chmod(path, mode)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// snapshot describes everything below root; directories end in a slash.
func snapshot(t testing.TB, root string) map[string]entryState {
	t.Helper()
	all := map[string]entryState{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		rel := filepath.ToSlash(path[len(root)+1:])
		info, err := d.Info()
		if err != nil {
			return err
		}
		state := entryState{Mode: fmt.Sprintf("%o", info.Mode().Perm())}
		switch {
		case d.IsDir():
			state = entryState{Dir: true}
			rel += "/"
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			state = entryState{Link: target}
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			state.Base64 = base64.StdEncoding.EncodeToString(data)
		}
		all[rel] = state
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// compareChanges checks that exactly what the vector names is different.
func (v *vector) compareChanges(t *testing.T, before, after map[string]entryState) {
	t.Helper()
	if v.Expect.AnyChange || v.Expect.Changed == nil && v.Expect.Error == "" && !observes(v.Tool) {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(before)) {
		_, named := v.Expect.Changed[path]
		if state, there := after[path]; !named && (!there || state != before[path]) {
			t.Errorf("%s has changed", path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(after)) {
		_, named := v.Expect.Changed[path]
		if _, there := before[path]; !named && !there {
			t.Errorf("%s is new", path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(v.Expect.Changed)) {
		want := v.Expect.Changed[path]
		state, there := after[path]
		switch {
		case want == nil && there:
			t.Errorf("%s is still there", path)
		case want == nil:
		case !there:
			t.Errorf("%s is missing", path)
		default:
			if want.Base64 == "" && !want.Dir && want.Link == "" {
				want.Base64, want.Text = base64.StdEncoding.EncodeToString([]byte(want.Text)), ""
			}
			if state != *want {
				t.Errorf("%s is %+v, want %+v", path, state, *want)
			}
		}
	}
}

func observes(tool string) bool {
	return slices.Contains([]string{"read", "repo_list", "repo_search", "glob"}, tool)
}
