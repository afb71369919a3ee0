package builtin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/langintel"
)

// 146 uses in 48 files are what one symbol of a large repository has; a model
// pays for each byte of the answer.
func TestManyLocationsAreShort(t *testing.T) {
	found := &langintel.LocationsResult{Answer: langintel.Answer{Status: langintel.Complete, Server: "gopls"}}
	for i := range 146 {
		path := fmt.Sprintf("internal/some/longer/path/package%02d/file_%02d.go", min(i/3, 47), min(i/3, 47))
		if i%3 == 0 && i/3 < 48 {
			found.Files = append(found.Files, path)
		}
		found.Locations = append(found.Locations, langintel.Location{
			Path: path, Line: 100 + i, Column: 17, EndLine: 100 + i, EndColumn: 25, Container: fmt.Sprintf("Container.Method%d", i/2),
			Text: "\t\treturn something.Renamed(ctx, \"é日本😀\", anotherArgument, " + strings.Repeat("andMore, ", 20) + ")",
		})
	}
	found.Total = len(found.Locations)
	text := textOfOutcome(t, found)
	if len(text) > 12_000 {
		t.Errorf("%d bytes", len(text))
	}
	if got := strings.Count(text, ":17 "); got != 146 {
		t.Errorf("%d of 146 locations are in the text", got)
	}
	for _, path := range found.Files {
		if strings.Count(text, path+"\n") != 1 {
			t.Errorf("%s does not stand once in the text", path)
		}
	}
}

func textOfOutcome(t *testing.T, found *langintel.LocationsResult) string {
	t.Helper()
	outcome := locationsOutcome(found)
	if len(outcome.Content) != 1 {
		t.Fatalf("%d blocks", len(outcome.Content))
	}
	return outcome.Content[0].Text
}
