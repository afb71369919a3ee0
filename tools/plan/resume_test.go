package plan

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// same presents what was recorded.
func same(m *Metadata, content []byte) *Presented {
	return &Presented{
		Owner: m.Owner, SchemaVersion: m.SchemaVersion, TaskID: m.TaskID, WorkspaceRoot: m.WorkspaceRoot, BaseBranch: m.BaseBranch, Branch: m.Branch,
		Worktree: m.Worktree, BaseID: m.BaseID, HeadID: m.HeadID, TreeID: m.TreeID, Fingerprints: m.Fingerprints, Plan: content, PlanURI: m.Plan.URI, Export: m.Export, Artifacts: m.Artifacts,
	}
}

func differences(t *testing.T, err error) []string {
	t.Helper()
	if !errors.Is(err, tools.CodeCodingCheckpoint) {
		t.Fatalf("%v", err)
	}
	var fields []string
	for _, difference := range tools.AsError(err).Details.(Differences).Differences {
		fields = append(fields, difference.Field)
	}
	return fields
}

func TestResumeAllowed(t *testing.T) {
	content := []byte("# Plan\n")
	m := full()
	plan := sumOf(content)
	m.Plan.SHA256, m.Plan.Bytes = plan.SHA256, plan.Bytes
	if err := ResumeAllowed(m, same(m, content)); err != nil {
		t.Fatal(err)
	}
	// Each binding for itself: missing, and another.
	covered := map[string]bool{"Plan": true, "Export": true, "Artifacts": true, "Owner": true, "SchemaVersion": true, "Fingerprints": true}
	for _, field := range []string{"TaskID", "WorkspaceRoot", "BaseBranch", "Branch", "Worktree", "BaseID", "HeadID", "TreeID"} {
		covered[field] = true
		for _, value := range []string{"", "other"} {
			p := same(m, content)
			reflect.ValueOf(p).Elem().FieldByName(field).SetString(value)
			if got := differences(t, ResumeAllowed(m, p)); len(got) != 1 || !strings.EqualFold(got[0], field) {
				t.Errorf("%s %q: %v", field, value, got)
			}
		}
	}
	covered["PlanURI"] = true
	for _, value := range []string{"", "other"} {
		p := same(m, content)
		p.PlanURI = value
		if got := differences(t, ResumeAllowed(m, p)); len(got) != 1 || got[0] != "plan.uri" {
			t.Errorf("the plan at %q: %v", value, got)
		}
	}
	for i := range reflect.TypeFor[Presented]().NumField() {
		if name := reflect.TypeFor[Presented]().Field(i).Name; !covered[name] {
			t.Errorf("the test leaves %s out", name)
		}
	}
	for i := range reflect.TypeFor[Fingerprints]().NumField() {
		for _, value := range []string{"", "other"} {
			p := same(m, content)
			reflect.ValueOf(&p.Fingerprints).Elem().Field(i).SetString(value)
			if got := differences(t, ResumeAllowed(m, p)); len(got) != 1 || !strings.HasPrefix(got[0], "fingerprints.") {
				t.Errorf("fingerprint %d %q: %v", i, value, got)
			}
		}
		// One that was not recorded must not be presented.
		bare, p := *m, same(m, content)
		reflect.ValueOf(&bare.Fingerprints).Elem().Field(i).SetString("")
		if got := differences(t, ResumeAllowed(&bare, p)); len(got) != 1 {
			t.Errorf("fingerprint %d: %v", i, got)
		}
	}
	for name, c := range map[string]struct {
		spoil func(*Presented)
		want  string
	}{
		"owner":         {func(p *Presented) { p.Owner.Account = "b" }, "owner"},
		"schema":        {func(p *Presented) { p.SchemaVersion = 0 }, "schemaVersion"},
		"no plan":       {func(p *Presented) { p.Plan = nil }, "plan"},
		"other plan":    {func(p *Presented) { p.Plan = []byte("# Plan") }, "plan"},
		"no export":     {func(p *Presented) { p.Export = nil }, "export export.uri"},
		"artifact gone": {func(p *Presented) { p.Artifacts = p.Artifacts[:1] }, "artifacts artifact:two"},
		"artifact more": {func(p *Presented) { p.Artifacts = append(p.Artifacts[:2:2], Reference{URI: "artifact:three"}) }, "artifacts artifact:three"},
		"artifact other": {func(p *Presented) {
			p.Artifacts = []Reference{p.Artifacts[0], {p.Artifacts[1].URI, p.Artifacts[0].SHA256, 0}}
		}, "artifacts artifact:two"},
		"several": {func(p *Presented) { p.HeadID, p.Plan = "", nil }, "headId plan"},
	} {
		p := same(m, content)
		c.spoil(p)
		if got := strings.Join(differences(t, ResumeAllowed(m, p)), " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	// Nothing of another's record is told.
	p := same(m, content)
	p.Owner, p.HeadID = state.Owner{}, ""
	if err := ResumeAllowed(m, p); len(differences(t, err)) != 1 || strings.Contains(err.Error(), m.HeadID) {
		t.Error(err)
	}
	// What was not recorded need not be presented.
	bare := &Metadata{SchemaVersion: 1, TaskID: "t"}
	if err := ResumeAllowed(bare, &Presented{SchemaVersion: 1, TaskID: "t", HeadID: m.HeadID, Plan: content}); err != nil {
		t.Error(err)
	}
}

func TestReadArtifacts(t *testing.T) {
	store := state.NewMemory(nil).Artifacts()
	owner := state.Owner{User: "ann"}
	kept, err := store.Put(t.Context(), owner, strings.NewReader("content"))
	if err != nil {
		t.Fatal(err)
	}
	references := []Reference{{"one", kept.SHA256, kept.Bytes}, {"lost", strings.Repeat("0", 64), 1}}
	found, err := ReadArtifacts(t.Context(), store, owner, references)
	if err != nil || !reflect.DeepEqual(found, references[:1]) {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := ReadArtifacts(t.Context(), store, state.Owner{User: "bob"}, references); err != nil || len(found) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
