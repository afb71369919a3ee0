package mcpserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-ls/prism-ls/tools"
)

// The fields of a decision's form.
const (
	fieldChoice  = "choice"
	fieldCustom  = "custom"
	fieldOption  = "option_" // one boolean an option, for clients without lists
	maxShown     = 2000      // bytes of a command line in a question
	approvalNote = "Accept to allow exactly this, once."
)

// approvalForm asks for consent to one action. Its form has no fields: to
// accept is to approve.
func approvalForm(action tools.Action, reason string) *mcp.ElicitParams {
	var text strings.Builder
	fmt.Fprintf(&text, "prism-ls: %s needs your approval (%s).\n", action.Operation, visible(reason))
	if action.Command != "" {
		fmt.Fprintf(&text, "Command: %s\n", visible(strings.Join(append([]string{action.Command}, action.Args...), " ")))
	}
	for i, path := range action.Paths {
		if i == 10 {
			fmt.Fprintf(&text, "… and %d more paths\n", len(action.Paths)-i)
			break
		}
		fmt.Fprintf(&text, "Path: %s\n", visible(path))
	}
	if len(action.Env) > 0 {
		fmt.Fprintf(&text, "Environment: %s\n", visible(strings.Join(action.Env, " ")))
	}
	if action.Entries > 0 {
		fmt.Fprintf(&text, "Files and directories: %d\n", action.Entries)
	}
	text.WriteString(approvalNote)
	return &mcp.ElicitParams{Mode: "form", Message: text.String(), RequestedSchema: emptyForm()}
}

func emptyForm() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
}

// visible makes text from a workspace safe to show to a person who decides by
// it: control characters and text direction marks are spelled out.
func visible(text string) string {
	cut := ""
	if len(text) > maxShown {
		text, cut = strings.ToValidUTF8(text[:maxShown], ""), fmt.Sprintf(" … (%d bytes in all)", len(text))
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case r < ' ' || r >= 0x7f && r < 0xa0, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff:
			fmt.Fprintf(&out, "\\u%04x", r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String() + cut
}

// decisionForm asks for a choice. A list of choices is a property of its own
// where the client's protocol has lists, else one boolean an option.
func decisionForm(asked tools.Question, lists bool) *mcp.ElicitParams {
	schema := emptyForm()
	ids := make([]any, 0, len(asked.Options))
	var text strings.Builder
	text.WriteString(visible(asked.Text))
	for _, option := range asked.Options {
		ids = append(ids, option.ID)
		fmt.Fprintf(&text, "\n\n%s: %s", visible(option.ID), visible(option.Label))
		for _, pro := range option.Pros {
			fmt.Fprintf(&text, "\n  + %s", visible(pro))
		}
		for _, con := range option.Cons {
			fmt.Fprintf(&text, "\n  - %s", visible(con))
		}
	}
	switch {
	case !asked.Multiple:
		schema.Properties[fieldChoice] = &jsonschema.Schema{Type: "string", Title: "Your choice", Enum: ids}
	case lists:
		schema.Properties[fieldChoice] = &jsonschema.Schema{Type: "array", Title: "Your choices", Items: &jsonschema.Schema{Type: "string", Enum: ids}}
	default:
		for _, option := range asked.Options {
			schema.Properties[fieldOption+option.ID] = &jsonschema.Schema{Type: "boolean", Title: option.Label}
		}
	}
	if asked.AllowCustom {
		schema.Properties[fieldCustom] = &jsonschema.Schema{Type: "string", Title: "Or in your own words"}
	} else if !asked.Multiple {
		schema.Required = []string{fieldChoice}
	}
	return &mcp.ElicitParams{Mode: "form", Message: text.String(), RequestedSchema: schema}
}

// readDecision takes a reply out of a form. What was not offered is refused:
// a reply is data from outside like any other.
func readDecision(asked tools.Question, content map[string]any) (tools.Reply, error) {
	var reply tools.Reply
	if custom, ok := content[fieldCustom].(string); ok && custom != "" && asked.AllowCustom {
		reply.Custom = custom
		return reply, nil
	}
	chosen := map[string]bool{}
	switch choice := content[fieldChoice].(type) {
	case string:
		chosen[choice] = true
	case []any:
		for _, id := range choice {
			if id, ok := id.(string); ok {
				chosen[id] = true
			}
		}
	}
	for _, option := range asked.Options {
		if ticked, ok := content[fieldOption+option.ID].(bool); chosen[option.ID] || ok && ticked {
			reply.IDs = append(reply.IDs, option.ID)
		}
	}
	if len(reply.IDs) == 0 {
		return reply, tools.Errorf(tools.CodeAborted, "the person chose none of the options")
	}
	return reply, nil
}

// digest identifies a question.
func digest(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil { // strings, booleans and lists of them always encode
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
