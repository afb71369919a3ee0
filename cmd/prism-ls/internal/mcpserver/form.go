package mcpserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/wording"
	"github.com/prism-ls/prism-ls/tools"
)

// The fields of a decision's form.
const (
	fieldChoice  = "choice"
	fieldCustom  = "custom"
	fieldOption  = "option_" // one boolean an option, for clients without lists
	approvalNote = "Accept to allow exactly this, once."
)

// approvalForm asks for consent to one action. Its form has no fields: to
// accept is to approve.
func approvalForm(action tools.Action, reason string) *mcp.ElicitParams {
	message := "prism-ls: " + wording.Action(action, reason) + "\n" + approvalNote
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: emptyForm()}
}

func emptyForm() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
}

// decisionForm asks for a choice. A list of choices is a property of its own
// where the client's protocol has lists, else one boolean an option.
func decisionForm(asked tools.Question, lists bool) *mcp.ElicitParams {
	schema := emptyForm()
	ids := make([]any, 0, len(asked.Options))
	for _, option := range asked.Options {
		ids = append(ids, option.ID)
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
	return &mcp.ElicitParams{Mode: "form", Message: wording.Question(asked), RequestedSchema: schema}
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
