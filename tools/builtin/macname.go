package builtin

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// beforeMeridiem is the space before AM or PM in the name of a macOS
// screenshot, which the system writes as U+202F.
var beforeMeridiem = regexp.MustCompile(` ([AP]M\b)`)

// macVariants returns how macOS may have written a name that was given in its
// plain form: decomposed (NFD), with a typographic apostrophe, with a narrow
// space before AM or PM, and combinations of these.
func macVariants(given string) []string {
	forms := []func(string) string{
		func(s string) string { return beforeMeridiem.ReplaceAllString(s, "\u202f$1") },
		norm.NFD.String,
		func(s string) string { return strings.ReplaceAll(s, "'", "\u2019") },
	}
	var variants []string
	seen := map[string]bool{given: true}
	for mask := 1; mask < 1<<len(forms); mask++ {
		variant := given
		for i, form := range forms {
			if mask&(1<<i) != 0 {
				variant = form(variant)
			}
		}
		if !seen[variant] {
			seen[variant] = true
			variants = append(variants, variant)
		}
	}
	return variants
}
