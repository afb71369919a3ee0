package parse

// parsers are the named ones; a new one is a line here.
func parsers() map[string]Parser {
	return map[string]Parser{
		"gcc": {Parse: parseGCC},
	}
}
