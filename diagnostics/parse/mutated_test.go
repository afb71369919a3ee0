package parse_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/prism-ls/prism-ls/diagnostics/parse"
)

// TestMutatedOutputs: outputs that are cut, doubled, shuffled and overwritten at random
// make no parser fail in another way than by an error, and nothing of them leaves the
// root or the bounds.
func TestMutatedOutputs(t *testing.T) {
	rounds := 2000
	if os.Getenv("PRISM_SOAK") == "1" {
		rounds = 50_000
	}
	const seed = 1
	random := rand.New(rand.NewPCG(seed, seed))
	found := 0
	for range rounds {
		output := mutated(random)
		for _, name := range parse.Names() {
			parser, _ := parse.Named(name)
			in := &parse.Input{Output: output, Root: "/root", Dir: "sub", Max: 20}
			result, _ := parser.Parse(in)
			checkResult(t, name, in, result)
			found += len(result.Diagnostics)
		}
		if t.Failed() {
			t.Fatalf("of %q", output)
		}
	}
	if found < rounds/10 {
		t.Errorf("only %d diagnostics: the outputs are too broken to say anything", found)
	}
	t.Logf("figure: mutated outputs of checks = %d × %d parsers, %d diagnostics, none outside of the root or its bounds", rounds, len(parse.Names()), found)
}

// mutated is two seeds in one, changed in a few places.
func mutated(random *rand.Rand) []byte {
	output := []byte(seeds[random.IntN(len(seeds))] + seeds[random.IntN(len(seeds))])
	pieces := []string{"\n", ":", "\x1b[", "\x00", "\"", "9999999999", "-1", "../", "/", "{", "[", "<", "\\u0000", "%2e%2e/", "\xff", "null"}
	for range random.IntN(8) {
		if len(output) == 0 {
			break
		}
		at := random.IntN(len(output))
		end := min(len(output), at+1+random.IntN(20))
		switch random.IntN(4) {
		case 0:
			output = slices.Delete(output, at, end)
		case 1:
			output = slices.Insert(output, at, output[at:end]...)
		case 2:
			output = slices.Insert(output, at, []byte(pieces[random.IntN(len(pieces))])...)
		case 3:
			output[at] = byte(random.IntN(256))
		}
	}
	return output
}
