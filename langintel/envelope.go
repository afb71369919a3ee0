package langintel

import (
	"bytes"
	"errors"
)

// envelope is one JSON-RPC 2.0 message taken apart without decoding its values;
// the slices point into the message's buffer.
type envelope struct {
	id     []byte // as on the wire; nil: none
	method string
	params []byte
	result []byte
	fault  []byte // the error object
}

var errNotJSON = errors.New("not a JSON object")

// scanEnvelope finds the members of a message. A value is only delimited here;
// whoever decodes it checks it.
func scanEnvelope(data []byte) (envelope, error) {
	s := scanner{data: data}
	var env envelope
	if !s.take('{') {
		return env, errNotJSON
	}
	for first := true; ; first = false {
		if s.take('}') {
			break
		}
		if !first && !s.take(',') {
			return env, errNotJSON
		}
		key, ok := s.value()
		if !ok || len(key) < 2 || key[0] != '"' || !s.take(':') {
			return env, errNotJSON
		}
		value, ok := s.value()
		if !ok {
			return env, errNotJSON
		}
		env.set(key[1:len(key)-1], value)
	}
	s.space()
	if s.at != len(s.data) {
		return env, errors.New("text after the JSON object")
	}
	return env, nil
}

func (e *envelope) set(key, value []byte) {
	null := string(value) == "null"
	switch string(key) {
	case "id":
		if !null {
			e.id = value
		}
	case "method":
		if len(value) >= 2 && value[0] == '"' {
			e.method = string(value[1 : len(value)-1])
		}
	case "params":
		e.params = value
	case "result":
		e.result = value
	case "error":
		if !null {
			e.fault = value
		}
	}
}

// scanner walks over JSON text value by value.
type scanner struct {
	data []byte
	at   int
}

func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) take(c byte) bool {
	s.space()
	if s.at < len(s.data) && s.data[s.at] == c {
		s.at++
		return true
	}
	return false
}

// value returns the next value's text.
func (s *scanner) value() ([]byte, bool) {
	s.space()
	start := s.at
	if start == len(s.data) {
		return nil, false
	}
	switch s.data[start] {
	case '"':
		if !s.str() {
			return nil, false
		}
	case '{', '[':
		if !s.nest() {
			return nil, false
		}
	default:
		for s.at < len(s.data) && !delimits(s.data[s.at]) {
			s.at++
		}
		if s.at == start {
			return nil, false
		}
	}
	return s.data[start:s.at], true
}

func delimits(c byte) bool {
	switch c {
	case ',', '}', ']', ':', ' ', '\t', '\r', '\n', '"', '{', '[':
		return true
	}
	return false
}

// str steps over a string; s.at is on its opening quote.
func (s *scanner) str() bool {
	s.at++
	for {
		i := bytes.IndexByte(s.data[s.at:], '"')
		if i < 0 {
			return false
		}
		s.at += i + 1
		backslashes := 0
		for j := s.at - 2; s.data[j] == '\\'; j-- {
			backslashes++
		}
		if backslashes%2 == 0 {
			return true
		}
	}
}

// nest steps over an object or array without recursion, so that depth costs
// nothing.
func (s *scanner) nest() bool {
	depth := 0
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case '"':
			if !s.str() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				s.at++
				return true
			}
		}
		s.at++
	}
	return false
}
