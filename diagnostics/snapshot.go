package diagnostics

import "strings"

// Status is how a producer's run ended.
type Status string

// The ways a run ends. Only StatusOK lets the absence of a problem mean
// anything.
const (
	StatusOK      Status = "ok"
	StatusPartial Status = "partial"
	StatusCrashed Status = "crashed"
	StatusTimeout Status = "timeout"
)

// Producer is one run of something that finds problems.
type Producer struct {
	ID           string // unique in a snapshot, and the same in base and head
	Tool         string
	Version      string
	ConfigDigest string // any digest; equal digests mean equal configuration
	Scope        Scope
	Status       Status
	Dropped      int // diagnostics that it reported and the snapshot does not hold
	Cut          int // diagnostics held with a shortened message or a repaired range
}

// sameTool reports whether two runs can be compared at all.
func (p *Producer) sameTool(other *Producer) bool {
	return p.Tool == other.Tool && p.Version == other.Version && p.ConfigDigest == other.ConfigDigest
}

// usable reports whether an absence in the run means anything.
func (p *Producer) usable() bool { return p.Status == StatusOK && p.Dropped == 0 }

// Scope is what a run looked at: everything, or the listed files and
// directories (slash-separated, relative to the root; "." is everything). The
// zero Scope looked at nothing.
type Scope struct {
	All   bool
	Paths []string
}

// Covers reports whether the scope takes in the file at path.
func (s Scope) Covers(path string) bool {
	if s.All {
		return true
	}
	for _, p := range s.Paths {
		if p == "." || path == p || strings.HasPrefix(path, p) && path[len(p)] == '/' {
			return true
		}
	}
	return false
}

// Snapshot is what all producers said about one state of the code.
type Snapshot struct {
	Revision    string // commit id, where there is one
	Tree        string // tree id, where there is one
	Generation  uint64 // grows with every snapshot of one collector
	Producers   []Producer
	Diagnostics []Diagnostic
}

// Complete reports whether every producer ended well and nothing was left out.
func (s *Snapshot) Complete() bool {
	for i := range s.Producers {
		if !s.Producers[i].usable() || s.Producers[i].Cut > 0 {
			return false
		}
	}
	return true
}

func (s *Snapshot) producers() map[string]*Producer {
	byID := make(map[string]*Producer, len(s.Producers))
	for i := range s.Producers {
		byID[s.Producers[i].ID] = &s.Producers[i]
	}
	return byID
}
