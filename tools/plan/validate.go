package plan

import (
	"bytes"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools/git"
)

// nameBytes bounds a path, a branch or a URI of a checkpoint.
const nameBytes = 4 << 10

// check reports the first thing that is not as it has to be.
func (m *Metadata) check(limits MetadataLimits) error {
	if m.SchemaVersion != SchemaVersion {
		return malformed("schemaVersion is %d, must be %d", m.SchemaVersion, SchemaVersion)
	}
	if !isID(m.TaskID) {
		return malformed("taskId is %q, must be 1 to %d letters, digits, \"-\", \"_\" or \".\"", clip(m.TaskID), idLength)
	}
	if !slices.Contains(Status("").Values(), string(m.Status)) {
		return malformed("status is %q, must be one of %s", clip(string(m.Status)), strings.Join(Status("").Values(), ", "))
	}
	if m.UpdatedAt.IsZero() {
		return malformed("updatedAt is missing")
	}
	for _, part := range []func(MetadataLimits) error{m.checkNames, m.checkIDs, m.checkReferences, m.checkSummaries, m.checkTodos} {
		if err := part(limits); err != nil {
			return err
		}
	}
	if len(m.Host) > 0 && !bytes.HasPrefix(bytes.TrimSpace(m.Host), []byte("{")) {
		return malformed("host must be a JSON object")
	}
	return nil
}

func (m *Metadata) checkNames(MetadataLimits) error {
	for _, field := range []struct {
		name, text string
		path       bool
	}{
		{"workspaceRoot", m.WorkspaceRoot, true}, {"worktree", m.Worktree, true}, {"baseBranch", m.BaseBranch, false},
		{"branch", m.Branch, false}, {"fingerprints.revision", m.Fingerprints.Revision, false},
		{"owner.tenant", m.Owner.Tenant, false}, {"owner.account", m.Owner.Account, false}, {"owner.user", m.Owner.User, false},
	} {
		if err := checkName(field.name, field.text); err != nil {
			return err
		}
		if field.path && field.text != "" && !filepath.IsAbs(field.text) {
			return malformed("%s is %q, must be an absolute path", field.name, clip(field.text))
		}
	}
	return nil
}

func checkName(field, text string) error {
	switch {
	case len(text) > nameBytes:
		return malformed("%s has %d bytes, must have at most %d", field, len(text), nameBytes)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return malformed("%s must be UTF-8 without control characters", field)
	}
	return nil
}

func (m *Metadata) checkIDs(MetadataLimits) error {
	for field, id := range map[string]string{"baseId": m.BaseID, "headId": m.HeadID, "treeId": m.TreeID} {
		if id != "" && !git.IsID(id) {
			return malformed("%s is %q, must be a git object's ID in full", field, clip(id))
		}
	}
	for field, sum := range map[string]string{
		"definition": m.Fingerprints.Definition, "image": m.Fingerprints.Image, "tools": m.Fingerprints.Tools, "policy": m.Fingerprints.Policy,
	} {
		if sum != "" && !isSum(sum) {
			return malformed("fingerprints.%s is %q, must be a SHA-256 in lower-case hexadecimal", field, clip(sum))
		}
	}
	return nil
}

func isSum(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

func (m *Metadata) checkReferences(limits MetadataLimits) error {
	if int64(len(m.Artifacts)) > limits.Artifacts {
		return malformed("artifacts has %d elements, must have at most %d", len(m.Artifacts), limits.Artifacts)
	}
	named := map[string]*Reference{"plan": m.Plan, "export": m.Export}
	for i := range m.Artifacts {
		named[fmt.Sprintf("artifacts[%d]", i)] = &m.Artifacts[i]
	}
	for field, reference := range named {
		if reference == nil {
			continue
		}
		most := limits.ArtifactBytes
		if field == "plan" {
			most = limits.Plan.PlanBytes
		}
		if err := reference.check(field, most); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reference) check(field string, most int64) error {
	if r.URI == "" {
		return malformed("%s.uri is empty", field)
	}
	if err := checkName(field+".uri", r.URI); err != nil {
		return err
	}
	if err := checkURI(field, r.URI); err != nil {
		return err
	}
	if !isSum(r.SHA256) {
		return malformed("%s.sha256 is %q, must be a SHA-256 in lower-case hexadecimal", field, clip(r.SHA256))
	}
	if r.Bytes < 0 || r.Bytes > most {
		return malformed("%s.bytes is %d, must be 0 to %d", field, r.Bytes, most)
	}
	return nil
}

// checkURI refuses an address that could hold a secret: one with a user in it, or with
// such a parameter, and what is meant for an address and is none.
func checkURI(field, uri string) error {
	address, err := url.Parse(uri)
	switch {
	case err != nil && strings.Contains(uri, "//"):
		return malformed("%s.uri is neither a path nor an address", field)
	case err != nil:
		return nil // a path
	case address.User != nil, strings.Contains(address.Opaque, "@"):
		return malformed("%s.uri has a user in it, and may have none", field)
	}
	for _, pair := range strings.FieldsFunc(address.RawQuery+"&"+address.RawFragment+"&"+address.Fragment, func(c rune) bool { return strings.ContainsRune("&;?", c) }) {
		name, _, _ := strings.Cut(pair, "=")
		if decoded, err := url.QueryUnescape(name); err == nil {
			name = decoded
		}
		if forbidden(name) {
			return malformed("%s.uri has a parameter %q, which could hold a secret", field, clip(name))
		}
	}
	return nil
}

func (m *Metadata) checkSummaries(limits MetadataLimits) error {
	texts := map[string]string{"handoff": m.Handoff}
	for i, check := range m.Checks {
		field := fmt.Sprintf("checks[%d]", i)
		switch {
		case !isID(check.Name):
			return malformed("%s.name is %q, must be the name of a check", field, clip(check.Name))
		case check.DurationMS < 0:
			return malformed("%s.durationMs is %d, must not be negative", field, check.DurationMS)
		case check.TreeID != "" && !git.IsID(check.TreeID):
			return malformed("%s.treeId is %q, must be a git object's ID in full", field, clip(check.TreeID))
		}
		texts[field+".summary"] = check.Summary
	}
	for field, text := range texts {
		if int64(len(text)) > limits.Summary {
			return malformed("%s has %d bytes, must have at most %d", field, len(text), limits.Summary)
		}
		if !utf8.ValidString(text) {
			return malformed("%s must be UTF-8", field)
		}
	}
	return nil
}

func (m *Metadata) checkTodos(limits MetadataLimits) error {
	if int64(len(m.Todos)) > limits.Plan.Todos {
		return malformed("todos has %d elements, must have at most %d", len(m.Todos), limits.Plan.Todos)
	}
	seen := map[string]bool{}
	for i, todo := range m.Todos {
		switch {
		case !isID(todo.ID):
			return malformed("todos[%d].id is %q, must be an item's ID", i, clip(todo.ID))
		case seen[todo.ID]:
			return malformed("todos[%d].id %q is there twice", i, todo.ID)
		case int64(len(todo.Text)) > limits.Plan.TodoBytes:
			return malformed("todos[%d].text has %d bytes, must have at most %d", i, len(todo.Text), limits.Plan.TodoBytes)
		}
		seen[todo.ID] = true
	}
	return nil
}
