package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/plan"
)

// TestAPlanThatIsWrittenAnewKeepsWhatAPersonWrote, wherever in it; written once more
// it is the same.
func TestAPlanThatIsWrittenAnewKeepsWhatAPersonWrote(t *testing.T) {
	for name, c := range map[string]struct{ was, want string }{
		"before the goal": {
			"# Old\n\nAsk \xff Ann first.\n\n- mine\n\n## Goal\n\nOld.\n\n## Todos\n\n- [ ] [old] Old\n\n## Notes\n",
			"# New\n\nAsk \xff Ann first.\n\n- mine\n\n## Goal\n\nNew.\n\n## Todos\n\n- [ ] [a] do a\n\n## Notes\n",
		},
		"items before the goal": {
			"# Old\n\nFirst:\n\n- [x] [old] Old\n  below it\n- [ ] mine\n\n## Log\n\n- [ ] [kept] Theirs\n",
			"# New\n\nFirst:\n\n- [ ] mine\n\n## Goal\n\nNew.\n\n## Todos\n\n- [ ] [a] do a\n\n## Log\n\n- [ ] [kept] Theirs\n",
		},
		"among the items": {
			"# Old\n## Goal\nOld.\n## Todos\nIn this order.\n\n- [ ] [old] Old\n  - [ ] [below] Old\n- [ ] mine\n\n### Later\n\n1. [ ] [last] Old\n## Notes\nx",
			"# New\n\n## Goal\n\nNew.\n\n## Todos\n\nIn this order.\n\n- [ ] mine\n\n### Later\n\n- [ ] [a] do a\n\n## Notes\nx",
		},
		"before the title": {
			"\ufeff---\nowner: ann\n---\n\nHello.\n\n# Old\n\n## Goal\n\nOld.\n",
			"\ufeff---\nowner: ann\n---\n\nHello.\n\n# New\n\n## Goal\n\nNew.\n\n## Todos\n\n- [ ] [a] do a\n\n## Notes\n",
		},
		"no title": {
			"Just a thought.", "# New\nJust a thought.\n## Goal\n\nNew.\n\n## Todos\n\n- [ ] [a] do a\n\n## Notes\n",
		},
		"no title but sections": {
			"A thought.\n\n## Log\n\nx\n", "# New\nA thought.\n\n## Goal\n\nNew.\n\n## Todos\n\n- [ ] [a] do a\n\n## Log\n\nx\n",
		},
		"carriage returns": {
			"Old\r\n===\r\n\r\nMine.\r\n\r\n## Goal\r\n\r\nOld.\r\n", "# New\r\n\r\nMine.\r\n\r\n## Goal\r\n\r\nNew.\r\n\r\n## Todos\r\n\r\n- [ ] [a] do a\r\n\r\n## Notes\r\n",
		},
		"nothing": {"", "# New\n\n## Goal\n\nNew.\n\n## Todos\n\n- [ ] [a] do a\n\n## Notes\n"},
	} {
		t.Run(name, func(t *testing.T) {
			files, root := plans(t)
			must(t, os.Mkdir(filepath.Join(root, "plans"), 0o755))
			must(t, os.WriteFile(filepath.Join(root, "plans/t.md"), []byte(c.was), 0o644))
			for range 2 {
				now, err := files.Read(t.Context(), "t")
				must(t, err)
				d := draft("a")
				d.Title, d.Goal = "New", "New."
				_, err = files.Write(t.Context(), "t", d, now.SHA256)
				must(t, err)
				if got := content(t, root, "plans/t.md"); got != c.want {
					t.Fatalf("\n%q, want\n%q", got, c.want)
				}
			}
		})
	}
}

// TestTheLargestPlansAreReadAtOnce whatever is in them: a line is not looked at as
// often as it is long, nor the text as often as it has items.
func TestTheLargestPlansAreReadAtOnce(t *testing.T) {
	limits := plan.Limits{PlanBytes: plan.PlanBytes.Hard, Todos: plan.Todos.Hard, TodoBytes: plan.TodoBytes.Hard}
	most := int(limits.PlanBytes)
	var items strings.Builder
	for i := range limits.Todos {
		items.WriteString("- [ ] [i" + strings.Repeat("x", int(i%50)) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + "] text of an item that is not short\n")
	}
	for name, text := range map[string]string{
		"quoted lists": "> " + strings.Repeat("- ", most/2-2) + "x",
		"quotes":       strings.Repeat(">", most),
		"lists":        strings.Repeat("- ", most/2),
		"numbers":      "> " + strings.Repeat("1. ", most/3-1),
		"breaks":       strings.Repeat("* ", most/2-1) + "x",
		"back ticks":   strings.Repeat("```\n", most/4),
		"headings":     strings.Repeat("# a\n", most/4),
		"tags":         strings.Repeat("<a\n", most/3),
		"indented":     strings.Repeat(" ", most-1) + "x",
		"items":        items.String(),
	} {
		began := time.Now()
		d, err := plan.Parse([]byte(text), limits)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		// A byte too often for each byte would be minutes.
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: %d bytes with %d items took %v", name, len(text), len(d.Todos()), took)
		}
		t.Logf("%s: %v", name, time.Since(began))
	}
}
