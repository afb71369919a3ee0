// Package tools says what a tool is, and makes every call to one.
//
// A tool is declared once, with [New]: a [Spec], a struct for its input, a
// struct for its metadata, a function that says what a call is about to do and
// a function that does it. The JSON Schemas, the MCP registration, the
// command-line form and the documentation derive from that declaration.
//
//	type In struct {
//		Path string `json:"path" check:"nonempty" jsonschema:"file to count"`
//	}
//	type Out struct {
//		Lines int `json:"lines"`
//	}
//	tool, err := tools.New(spec, plan, func(ctx context.Context, call *tools.Call, in In) (*tools.Outcome[Out], error) {
//		…
//		return tools.Answer(fmt.Sprintf("%d lines", n), Out{Lines: n}), nil
//	})
//
// A [Registry] holds tools by name. [Registry.Call] is the one way to call
// them, whatever surface the call came over: it finds the tool, decodes and
// validates the input, asks the [Policy], records the intent, runs the
// function, records the outcome, and bounds and redacts what comes back.
//
// Failures carry a stable [Code], and work with errors.Is and errors.As.
//
// Importing this package starts nothing.
package tools
