package tools

import (
	"bytes"
	"encoding/json"
)

// Block is one piece of what a model is shown: text, or an image.
type Block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	MIMEType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

// Text makes a text block.
func Text(s string) Block { return Block{Type: "text", Text: s} }

// Image makes an image block from undecoded image bytes.
func Image(mimeType string, data []byte) Block {
	return Block{Type: "image", MIMEType: mimeType, Data: data}
}

// MarshalJSON writes only the members that the block's type has.
func (b Block) MarshalJSON() ([]byte, error) {
	if b.Type == "image" {
		return encode(struct {
			Type     string `json:"type"`
			MIMEType string `json:"mimeType"`
			Data     []byte `json:"data"`
		}{b.Type, b.MIMEType, b.Data})
	}
	return encode(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{b.Type, b.Text})
}

// Outcome is what a tool's function returns: blocks for the model, and the
// complete, typed metadata for the host. A function may return an Outcome
// beside an error, for output that came before the failure.
type Outcome[Out any] struct {
	Content  []Block
	Metadata Out
}

// Answer makes an Outcome with one text block.
func Answer[Out any](text string, metadata Out) *Outcome[Out] {
	return &Outcome[Out]{Content: []Block{Text(text)}, Metadata: metadata}
}

// Result is a finished call, as every surface shows it.
type Result struct {
	Tool     string          `json:"tool"`
	Content  []Block         `json:"content"`
	Metadata json.RawMessage `json:"metadata"`
	Err      *Error          `json:"error,omitempty"`
}

// MarshalJSON writes an Error as {code, message, details?}.
func (e *Error) MarshalJSON() ([]byte, error) {
	return encode(struct {
		Code    Code   `json:"code"`
		Message string `json:"message"`
		Details any    `json:"details,omitempty"`
	}{e.Code, e.Message, e.Details})
}

// redactJSON takes secrets out of JSON text. A secret may be a number, or span
// what is JSON's own (`a","b`); then its values are taken one by one, so that
// JSON it remains.
func redactJSON(redactor Redactor, text []byte) []byte {
	clean := redactor.Redact(text)
	if json.Valid(clean) {
		return clean
	}
	value, err := decodeJSON(text)
	if err != nil {
		return []byte("{}")
	}
	if clean, err := encode(redactValue(redactor, value)); err == nil {
		return clean
	}
	return []byte("{}")
}

// decodeJSON decodes text without losing digits of its numbers.
func decodeJSON(text []byte) (value any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&value)
	return value, err
}

func redactValue(redactor Redactor, value any) any {
	switch v := value.(type) {
	case map[string]any:
		clean := make(map[string]any, len(v))
		for name, member := range v {
			clean[string(redactor.Redact([]byte(name)))] = redactValue(redactor, member)
		}
		return clean
	case []any:
		for i, element := range v {
			v[i] = redactValue(redactor, element)
		}
	case string:
		return string(redactor.Redact([]byte(v)))
	case json.Number:
		if clean := string(redactor.Redact([]byte(v))); clean != string(v) {
			return clean
		}
	}
	return value
}

// encode is json.Marshal without HTML escaping: what is shown is what is there.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
