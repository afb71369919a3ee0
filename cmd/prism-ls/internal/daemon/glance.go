package daemon

// glanced is what a relay has to know of a frame: the JSON texts of the members
// "id" (as it stands) and "method" (without quotes) of its object, "" where they
// are not there.
type glanced struct{ id, method string }

// maxMember bounds what is taken of an id or a method.
const maxMember = 1 << 10

// glance finds those members without reading the rest of the frame as JSON. What
// it finds in a frame that is no JSON is of no use and does no harm: whoever gets
// the frame refuses it.
func glance(frame []byte) glanced {
	var seen glanced
	depth, start := 0, 0
	key := ""
	for i := 0; i < len(frame); i++ {
		switch frame[i] {
		case '"':
			end := stringEnd(frame, i)
			if depth == 1 && key == "" {
				key = keyOf(frame[i:end])
			}
			i = end - 1
		case ':':
			if depth == 1 {
				start = i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				seen.take(key, frame[start:i])
				return seen
			}
		case ',':
			if depth == 1 {
				seen.take(key, frame[start:i])
				key = ""
			}
		}
	}
	return seen
}

// stringEnd is the index behind a string that begins at an index.
func stringEnd(frame []byte, at int) int {
	for i := at + 1; i < len(frame); i++ {
		switch frame[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(frame)
}

// keyOf names the keys that matter.
func keyOf(quoted []byte) string {
	switch string(quoted) {
	case `"id"`:
		return "id"
	case `"method"`:
		return "method"
	}
	return "?"
}

func (g *glanced) take(key string, value []byte) {
	value = trimSpace(value)
	if len(value) > maxMember {
		return
	}
	switch {
	case key == "id" && string(value) != "null":
		g.id = string(value)
	case key == "method" && len(value) >= 2 && value[0] == '"':
		g.method = string(value[1 : len(value)-1])
	}
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}
