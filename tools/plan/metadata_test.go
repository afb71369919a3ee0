package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// full has every field.
func full() *Metadata {
	sum := strings.Repeat("ab", 32)
	return &Metadata{
		SchemaVersion: 1, Owner: state.Owner{Tenant: "t", Account: "a", User: "u"}, TaskID: "task-1", Status: StatusChecking,
		WorkspaceRoot: "/work", BaseBranch: "main", Branch: "fix/it", Worktree: "/work/tree",
		BaseID: strings.Repeat("1", 40), HeadID: strings.Repeat("2", 40), TreeID: strings.Repeat("3", 64),
		Plan: &Reference{"plans/task-1.md", sum, 10}, Export: &Reference{"https://example.org/x?v=1", sum, 20},
		Artifacts:    []Reference{{"artifact:one", sum, 30}, {"artifact:two", strings.Repeat("cd", 32), 0}},
		Checks:       []CheckSummary{{"test", 1, 1500, "2 failed", strings.Repeat("3", 40)}},
		Handoff:      "3 commits",
		Fingerprints: Fingerprints{"r1", sum, sum, sum, sum},
		Todos:        []Todo{{"a", "text", true}}, UpdatedAt: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Host: json.RawMessage(`{"step":2}`),
	}
}

func TestMetadataComesBackAsItWas(t *testing.T) {
	m := full()
	for i := range reflect.TypeFor[Metadata]().NumField() {
		if reflect.ValueOf(*m).Field(i).IsZero() {
			t.Errorf("the test leaves %s out", reflect.TypeFor[Metadata]().Field(i).Name)
		}
	}
	text, err := m.Encode(MetadataLimits{})
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeMetadata(text, MetadataLimits{})
	if err != nil || !reflect.DeepEqual(m, back) {
		t.Fatalf("%v\n%+v\n%+v", err, m, back)
	}
	again, err := back.Encode(MetadataLimits{})
	if err != nil || string(again) != string(text) {
		t.Errorf("%s\n%s", text, again)
	}
}

func TestMetadataThatIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*Metadata){
		"schema":         func(m *Metadata) { m.SchemaVersion = 2 },
		"task":           func(m *Metadata) { m.TaskID = "../x" },
		"status":         func(m *Metadata) { m.Status = "done" },
		"time":           func(m *Metadata) { m.UpdatedAt = time.Time{} },
		"relative root":  func(m *Metadata) { m.WorkspaceRoot = "work" },
		"control":        func(m *Metadata) { m.Branch = "a\nb" },
		"short id":       func(m *Metadata) { m.HeadID = "abc" },
		"upper case sum": func(m *Metadata) { m.Fingerprints.Tools = strings.Repeat("A", 64) },
		"artifact sum":   func(m *Metadata) { m.Artifacts[0].SHA256 = "" },
		"artifact size":  func(m *Metadata) { m.Artifacts[0].Bytes = 256<<20 + 1 },
		"no place":       func(m *Metadata) { m.Plan.URI = "" },
		"a user":         func(m *Metadata) { m.Export.URI = "https://ann:pw@example.org/x" },
		"a parameter":    func(m *Metadata) { m.Export.URI = "https://example.org/x?access_token=1" },
		"user only":      func(m *Metadata) { m.Export.URI = "//ann:pw@example.org/x" },
		"opaque user":    func(m *Metadata) { m.Export.URI = "https:ann:pw@example.org/x" },
		"no address":     func(m *Metadata) { m.Export.URI = "https://ann:p w@example.org/x" },
		"bad query":      func(m *Metadata) { m.Export.URI = "https://example.org/x?a;token=1" },
		"escaped":        func(m *Metadata) { m.Export.URI = "https://example.org/x?%74oken=1" },
		"in a fragment":  func(m *Metadata) { m.Export.URI = "https://example.org/x#access_token=1" },
		"too many":       func(m *Metadata) { m.Artifacts = make([]Reference, 17) },
		"plan too large": func(m *Metadata) { m.Plan.Bytes = 256<<10 + 1 },
		"long summary":   func(m *Metadata) { m.Checks[0].Summary = strings.Repeat("x", 1025) },
		"long hand-off":  func(m *Metadata) { m.Handoff = strings.Repeat("x", 1025) },
		"todo twice":     func(m *Metadata) { m.Todos = []Todo{{"a", "", false}, {"a", "", false}} },
		"todo text":      func(m *Metadata) { m.Todos[0].Text = strings.Repeat("x", 513) },
		"todos":          func(m *Metadata) { m.Todos = make([]Todo, 1001) },
		"host's type":    func(m *Metadata) { m.Host = json.RawMessage(`[1]`) },
		"host's number":  func(m *Metadata) { m.Host = json.RawMessage(`{"a":1.5}`) },
		"host's twice":   func(m *Metadata) { m.Host = json.RawMessage(`{"a":1,"a":2}`) },
		"host's secret":  func(m *Metadata) { m.Host = json.RawMessage(`{"a":[{"b":{"apiToken":"x"}}]}`) },
		"host's size":    func(m *Metadata) { m.Host = json.RawMessage(`{"a":"` + strings.Repeat("x", 64<<10) + `"}`) },
		"host's depth": func(m *Metadata) {
			m.Host = json.RawMessage(strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70))
		},
	} {
		m := full()
		spoil(m)
		if text, err := m.Encode(MetadataLimits{}); !errors.Is(err, tools.CodeCodingCheckpoint) {
			t.Errorf("%s: %s %v", name, text, err)
		}
		// What is written in another way is refused when it is read.
		text, err := json.Marshal(m)
		if err != nil {
			continue
		}
		if _, err := DecodeMetadata(text, MetadataLimits{}); !errors.Is(err, tools.CodeCodingCheckpoint) {
			t.Errorf("%s, read: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "no object": "[]", "unknown": `{"schemaVersion":1,"more":1}`, "twice": `{"schemaVersion":1,"schemaVersion":1}`, "cut": `{"schemaVersion":1`,
	} {
		if _, err := DecodeMetadata([]byte(text), MetadataLimits{}); !errors.Is(err, tools.CodeCodingCheckpoint) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := full().Encode(MetadataLimits{Bytes: MetadataBytes.Hard + 1}); !errors.Is(err, tools.CodeToolInput) {
		t.Errorf("beyond the hard limit: %v", err)
	}
	big := full()
	big.Host = json.RawMessage(`{"a":"` + strings.Repeat("x", 500<<10) + `"}`)
	if _, err := big.Encode(MetadataLimits{Bytes: MetadataBytes.Hard}); err != nil {
		t.Errorf("within the hard limit: %v", err)
	}
}

func TestNamesThatCouldHoldSecrets(t *testing.T) {
	for _, name := range []string{
		"token", "Token", "apiToken", "api_token", "API-TOKEN", "githubtoken", "ｔｏｋｅｎ", "to\u212aen", "paſſword", "PASSWORD", "dbPassword", "passwd", "credential", "credentials",
		"cookie", "Set-Cookie", "authorization", "Authorization", "env", "ENV", "my_env", "processEnv", "environment", "stdout", "stdOut", "STDERR", "stderr_tail", "std.err", "clientSecret",
		"secret", "private_key", "privateKey", "accessKey", "api.key", "output", "rawOutput", "auth", "bearer", "to ken",
		"accessToken", "api_key", "apiKey", "x-api-key", "tоken", "раssword", "соοkie", "ΤΟΚΕΝ", "pâssword", "to\u200bken", "e\u200bnv", "e\u0301nv", "t0ken", "p4ssw0rd", "env2", "ENVs", "e.n.v", "AWSEnv",
		"oauth2", "jwt", "sshKey", "credsFile", "dotenv", "passcode",
	} {
		for _, form := range []string{`{%s:1}`, `{"a":{%s:{}}}`, `{"a":[[{"b":0},{%s:null}]]}`} {
			quoted, err := json.Marshal(name)
			if err != nil {
				t.Fatal(err)
			}
			canonical, err := tools.Canonical(fmt.Appendf(nil, form, quoted))
			if err != nil {
				t.Fatal(err)
			}
			if err := forbidNames(canonical); !errors.Is(err, tools.CodeCodingCheckpoint) {
				t.Errorf("%s is not refused in %s", name, form)
			}
		}
	}
	for _, name := range []string{"envelope", "author", "exitCode", "passed", "compass", "step", "inventory", "thoughts", "keys", "puts", "handoffSummary", "sha256", "größe", "имя", "名前", ""} {
		if forbidden(name) {
			t.Errorf("%s is refused", name)
		}
	}
	// Only names count.
	if err := forbidNames([]byte(`{"a":"token","b":["password"]}`)); err != nil {
		t.Error(err)
	}
}

func FuzzDecodeMetadata(f *testing.F) {
	text, err := full().Encode(MetadataLimits{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"schemaVersion":1,"owner":{},"taskId":"a","status":"failed","updatedAt":"2026-01-01T00:00:00Z","fingerprints":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := DecodeMetadata(text, MetadataLimits{})
		if err != nil {
			if !errors.Is(err, tools.CodeCodingCheckpoint) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := m.Encode(MetadataLimits{Bytes: MetadataBytes.Hard})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		back, err := DecodeMetadata(again, MetadataLimits{Bytes: MetadataBytes.Hard})
		if err != nil || !reflect.DeepEqual(m, back) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
