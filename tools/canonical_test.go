package tools_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{` { "b" : 1, "a":[true,null,"\u00e9\/"] } `, `{"a":[true,null,"é/"],"b":1}`},
		{`{"\u20ac":1,"1":2,"\ud83d\ude00":3,"\ufb33":4}`, "{\"1\":2,\"€\":1,\"😀\":3,\"\ufb33\":4}"}, // RFC 8785 §3.2.3: by UTF-16 units
		{`-9007199254740991`, `-9007199254740991`},
	} {
		got, err := tools.Canonical([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.in, got, err, c.want)
		}
		if one, err := tools.Fingerprint(json.RawMessage(c.in)); err != nil || len(one) != 64 {
			t.Errorf("%s: %q, %v", c.in, one, err)
		}
	}
	for _, in := range []string{
		`1.5`, `{"a":1e3}`, `9007199254740992`, `{"a":1,"a":2}`, `{"a":{"b":1,"b":1}}`, "\"\xff\"", `{"a":`, ``, `{} {}`,
		strings.Repeat("[", 65) + strings.Repeat("]", 65),
	} {
		if got, err := tools.Canonical([]byte(in)); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%q: %s, %v", in, got, err)
		}
	}
	if _, err := tools.Canonical([]byte(strings.Repeat("[", 64) + strings.Repeat("]", 64))); err != nil {
		t.Error(err)
	}
}
