package propose

import (
	"strconv"
	"strings"
)

// Configuration is a prism-ls.toml in which everything is a comment, with the
// proposals in it.
func Configuration(checks []Check) string {
	var text strings.Builder
	text.WriteString(head)
	if len(checks) == 0 {
		text.WriteString(noChecks)
	}
	for _, c := range checks {
		text.WriteString("\n# From " + oneLine(c.From) + ".\n")
		text.WriteString("# [checks." + c.Name + "]\n")
		text.WriteString("# file = " + quoted(c.File) + "\n")
		if len(c.Args) > 0 {
			list := make([]string, len(c.Args))
			for i, arg := range c.Args {
				list[i] = quoted(arg)
			}
			text.WriteString("# args = [" + strings.Join(list, ", ") + "]\n")
		}
		if c.Parser != "" {
			text.WriteString("# parser = " + quoted(c.Parser) + "\n")
		}
	}
	return text.String()
}

const head = `# Settings of prism-ls for this workspace. Everything here is a comment: nothing is
# in force until you take the # away. docs/config.md explains every key.
#
# In a workspace that you have not trusted, this file may only take authority away:
#
# profile = "read-only"        # or unattended, guarded (the default), trusted
# exclude_tools = ["shell"]
#
# [[rules]]
# verdict = "forbid"
# paths = ["secrets/**"]
# reason = "not for agents"
#
# Checks name programs, so they count only in your own file
# (~/.config/prism-ls/prism-ls.toml), or here once you have run "prism-ls trust"
# with this file as it then is. An agent runs a check by its name with the tool
# coding_check, and a person with "prism-ls check NAME".
`

const noChecks = `
# Nothing that usually checks something was found here. For example:
#
# [checks.test]
# file = "make"
# args = ["test"]
# parser = "gcc"               # checkstyle, eslint-json, gcc, go, sarif, tsc or none
`

// quoted writes a basic string of TOML, which in these texts is a string of Go.
func quoted(text string) string { return strconv.QuoteToASCII(text) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
