package langintel

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ReferencesQuery asks where a symbol is used.
type ReferencesQuery struct {
	Place
	ExcludeDeclaration bool
	Limit              *int64 // locations a page; nil: 500, at most 5000
	Cursor             string // of the page before
}

// References returns every use of a symbol.
func (c *Client) References(ctx context.Context, q ReferencesQuery) (*LocationsResult, error) {
	return c.locations(ctx, locationsQuery{
		place: q.Place, method: "textDocument/references", what: "references", limit: q.Limit, cursor: q.Cursor,
		params: func(t *target) any {
			p := referenceParams{TextDocumentPositionParams: t.params()}
			p.Context.IncludeDeclaration = !q.ExcludeDeclaration
			return p
		},
	})
}

// locationsQuery is any request that answers with places.
type locationsQuery struct {
	place  Place
	method string
	what   string // for people
	params func(*target) any
	limit  *int64
	cursor string
}

func (c *Client) locations(ctx context.Context, q locationsQuery) (*LocationsResult, error) {
	limit, err := limitResults().Of(q.limit)
	if err != nil {
		return nil, err
	}
	t, err := c.resolve(ctx, q.place)
	if err != nil {
		answer, err := c.soften(ctx, "", err)
		return &LocationsResult{Answer: answer}, err
	}
	defer t.release()
	if !t.offers(q.method) {
		return &LocationsResult{Answer: Answer{Status: Unsupported, Server: t.spec.Name, Reason: t.spec.Name + " does not offer " + q.what}}, nil
	}
	for attempt := 0; ; attempt++ {
		result, changed, err := t.askLocations(ctx, q, page{limit, q.cursor})
		if err != nil {
			answer, err := c.soften(ctx, t.spec.Name, err)
			return &LocationsResult{Answer: answer}, err
		}
		if len(changed) == 0 {
			return result, nil
		}
		if attempt == 1 {
			result.Status, result.Reason = Stale, fmt.Sprintf("%s changed while the server answered", changed[0])
			return result, nil
		}
		// The server spoke of an earlier text: let it see this one.
		if err := c.Changed(ctx, changed...); err != nil {
			return nil, err
		}
	}
}

// askLocations asks once, and once more when the answer was nothing.
func (t *target) askLocations(ctx context.Context, q locationsQuery, p page) (result *LocationsResult, changed []string, err error) {
	result = &LocationsResult{Answer: Answer{Status: Complete, Server: t.spec.Name, Barrier: BarrierRequest}}
	var places []place
	for attempt := range 2 {
		asked := time.Now()
		err := t.read(ctx, q.method, q.params(t), resultReader(func(result jsontext.Value) (err error) {
			places, err = parsePlaces(result)
			return err
		}))
		if err != nil {
			return nil, nil, err
		}
		if attempt == 1 {
			result.Barrier = BarrierReasked
		}
		if len(places) > 0 && !t.work.endedSince(asked) {
			break
		}
	}
	list, dropped := t.client.site(places)
	part, next, err := p.cut(list)
	if err != nil {
		return nil, nil, err
	}
	if result.Locations, changed, err = t.show(ctx, part); err != nil {
		return nil, nil, err
	}
	result.Total, result.NextCursor, result.Truncated = len(list), next, next != ""
	for _, s := range list {
		name := s.path
		if s.external {
			name = depPrefix + name
		}
		if len(result.Files) == 0 || result.Files[len(result.Files)-1] != name {
			result.Files = append(result.Files, name)
		}
	}
	switch work := t.work.current(); {
	case len(list) == 0 && work != "":
		result.Status, result.Reason = Partial, "nothing found yet; the server is still busy: "+work
	case dropped > 0:
		result.Status, result.Reason = Partial, fmt.Sprintf("%d places are not in files", dropped)
	}
	return result, slices.Compact(changed), nil
}
