package diagnostics

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// idVersion names the recipe of [IDs]; another recipe gets another name, so that
// ids of two recipes never meet.
const idVersion = "v1"

// IDs gives each diagnostic an id under which a comment about it is found again
// on the next revision of a change. It is made of the producer, the kind, the
// path, the message without positions and, where contents (which may be nil) has
// it, the source line without white space; it holds neither line numbers nor
// anything of the base. Of diagnostics that are equal in all of that, the first
// in the file has the plain id and the others a count behind it, so a list should
// be given whole. The result is in the order of list.
func IDs(list []Diagnostic, side Side, contents Contents) []string {
	cache := newLineCache(contents)
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return placeOrder(&list[a], &list[b]) })
	ids := make([]string, len(list))
	count := map[string]int{}
	for _, i := range order {
		d := &list[i]
		line := cache.line(side, d.Path, d.Range.Start.Line)
		sum := sha256.Sum256([]byte(strings.Join([]string{
			idVersion, d.Producer, d.Source, d.Code, d.Path, blankPositions(d.Message), blindLine(line),
		}, "\x00")))
		id := hex.EncodeToString(sum[:10])
		if count[id]++; count[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, count[id])
		}
		ids[i] = id
	}
	return ids
}
