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

// withinFile reports whether a method's answer lies in what the server needs for the
// one file, so that it need not have loaded the rest.
func withinFile(method string) bool {
	switch method {
	case "textDocument/definition", "textDocument/declaration", "textDocument/typeDefinition":
		return true
	}
	return false
}

// maxAsks bounds how often a question is repeated while the server still loads.
const maxAsks = 5

// askLocations asks, and asks again when the answer was nothing, or made while the
// server finished other work.
func (t *target) askLocations(ctx context.Context, q locationsQuery, p page) (result *LocationsResult, changed []string, err error) {
	result = &LocationsResult{Answer: Answer{Status: Complete, Server: t.spec.Name, Barrier: BarrierRequest}}
	places, err := t.places(ctx, q, &result.Answer)
	if err != nil {
		return nil, nil, err
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
	if dropped > 0 && result.Status == Complete {
		result.Status, result.Reason = Partial, fmt.Sprintf("%d places are not in files", dropped)
	}
	return result, slices.Compact(changed), nil
}

// places asks until the answer is final, and says in answer how far it is.
func (t *target) places(ctx context.Context, q locationsQuery, answer *Answer) (places []place, err error) {
	pending, settled := "", false
	settle := func() {
		if !settled {
			pending, settled = t.settle(ctx), true
		}
	}
	if !withinFile(q.method) {
		settle()
	}
	for attempt := range maxAsks {
		asked := time.Now()
		err := t.read(ctx, q.method, q.params(t), resultReader(func(result jsontext.Value) (err error) {
			places, err = parsePlaces(result)
			return err
		}))
		if err != nil {
			return nil, err
		}
		if attempt > 0 {
			answer.Barrier = BarrierReasked
		}
		ended := t.work.endedSince(asked)
		if !ended && (len(places) > 0 || attempt > 0) {
			break
		}
		if len(places) == 0 {
			settled = settled && pending != "" // it may have begun something since
			settle()
		}
	}
	t.qualify(answer, pending, len(places) == 0)
	return places, nil
}

// qualify lowers an answer that may be less than there is.
func (v *session) qualify(answer *Answer, pending string, empty bool) {
	switch {
	case pending != "":
		answer.Status, answer.Reason = Partial, v.spec.Name+" may know more later: "+pending
	case v.lacks() != "":
		answer.Status, answer.Reason = Partial, v.spec.Name+" may know less than there is: "+v.lacks()
	case empty && !v.spec.ready().certain():
		answer.Status, answer.Reason = Partial, "nothing found, and "+v.spec.Name+" does not say when it has loaded everything"
	}
}
