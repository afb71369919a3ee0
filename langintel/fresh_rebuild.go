package langintel

import (
	"context"
	"slices"
	"time"
)

// Rebuild is for clangd, which publishes with versions and for each text that it
// is asked to (wantDiagnostics), but looks at the files that a text includes only
// when it notices by their size and the second of their change that they are not
// the same. Where one of them changed it is made to look (forceRebuild).
func Rebuild() Freshness { return rebuild{} }

type rebuild struct{}

func (rebuild) Name() string { return "rebuild" }

// changes is what every didChange carries: without it the server waits for more
// changes first.
func (rebuild) changes() didChangeParams { return didChangeParams{WantDiagnostics: true} }

func (r rebuild) check(ctx context.Context, v *session, doc document) (checked, error) {
	ctx, cancel := context.WithTimeout(ctx, v.client.opts.Timeout)
	defer cancel()
	again := r.changes()
	again.ForceRebuild = true
	var err error
	if v.affected(doc.path, doc.rebuilt) {
		if doc, err = v.docs.touch(doc.path, again); err != nil {
			return checked{}, err
		}
	}
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	for {
		pub, moved := v.problem.last(doc.path)
		if pub != nil && pub.version != nil && *pub.version >= doc.version {
			return r.answer(v, doc, pub), nil
		}
		select {
		case <-moved:
		case <-quiet.C:
			// It has nothing to say of a text that it has just judged.
			if _, busy := v.problem.last(doc.path); busy == moved {
				if doc, err = v.docs.touch(doc.path, again); err != nil {
					return checked{}, err
				}
			}
		case <-v.dead:
			return checked{}, v.reason()
		case <-ctx.Done():
			return v.late(pub), nil
		}
	}
}

func (rebuild) answer(v *session, doc document, pub *published) checked {
	out := v.published(pub)
	lacks := v.lacks()
	switch {
	case pub.sha != doc.file.sha:
		out.Status, out.Reason = Stale, "the file changed again meanwhile"
	case lacks != "":
		out.Status, out.Reason = Partial, lacks
	}
	return out
}

// affected reports whether a file's problems may be others since a change of
// another file, after the given one of the change log.
func (v *session) affected(path string, since int64) bool {
	changed, known := v.changes.since(since)
	if !known {
		return true
	}
	// A change of its own text shows in the hash.
	changed = slices.DeleteFunc(changed, func(name string) bool { return name == path })
	if len(changed) == 0 || v.spec.Dependents == nil {
		return len(changed) > 0
	}
	return v.reached(v.changes.now(), changed)[path]
}
