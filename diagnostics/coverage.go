package diagnostics

// coverage decides what the absence of a diagnostic means: it only means
// something when the other side's run would have shown it.
type coverage struct {
	base, head map[string]*Producer
	files      FileMap
}

// comparable reports whether both sides have a run of that producer by the same
// tool and configuration; entries of others are never matched.
func (c *coverage) comparable(id string) bool {
	b, h := c.base[id], c.head[id]
	return b != nil && h != nil && b.sameTool(h)
}

// ofBase says why an unmatched base diagnostic is not known to be fixed; "" when
// it is.
func (c *coverage) ofBase(d *Diagnostic) Reason {
	path, exists := c.files.ToHead(d.Path)
	return absence(c.base[d.Producer], c.head[d.Producer], path, exists)
}

// ofHead says why an unmatched head diagnostic is not known to be introduced.
func (c *coverage) ofHead(d *Diagnostic) Reason {
	path, exists := c.files.ToBase(d.Path)
	return absence(c.head[d.Producer], c.base[d.Producer], path, exists)
}

// absence judges the other side's run. A file that the other side does not have
// has no problems there, whatever the run's scope was.
func absence(own, other *Producer, path string, exists bool) Reason {
	switch {
	case own == nil || other == nil:
		return ReasonNotRun
	case !own.sameTool(other):
		return ReasonChanged
	case !other.usable():
		return ReasonFailed
	case exists && !other.Scope.Covers(path):
		return ReasonScope
	default:
		return ""
	}
}
