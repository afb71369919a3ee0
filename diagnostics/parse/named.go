package parse

// parsers are the named ones; a new one is a line here.
func parsers() map[string]Parser {
	return map[string]Parser{
		"checkstyle":  {Document: true, Parse: parseCheckstyle},
		"eslint-json": {Document: true, Parse: parseESLint},
		"gcc":         {Parse: parseGCC},
		"go":          {Parse: parseGo},
		"sarif":       {Document: true, Parse: parseSARIF},
		"tsc":         {Parse: parseTSC},
	}
}
