package tools

import (
	"regexp"
	"time"
)

// Kind says what a tool is for, so that a client can group tools without
// guessing from their names.
type Kind string

// The kinds.
const (
	KindRead    Kind = "read"
	KindEdit    Kind = "edit"
	KindSearch  Kind = "search"
	KindDelete  Kind = "delete"
	KindMove    Kind = "move"
	KindExecute Kind = "execute"
	KindFetch   Kind = "fetch"
	KindOther   Kind = "other"
)

// Mutation says what a tool changes.
type Mutation string

// The mutations.
const (
	// MutatesNothing: the tool only observes.
	MutatesNothing Mutation = "none"
	// MutatesLocally: files of the workspace or local state change.
	MutatesLocally Mutation = "local_mutation"
	// MutatesExternally: the effect reaches beyond what prism-ls can see or undo.
	MutatesExternally Mutation = "external_mutation"
)

// Idempotency says whether a repeated call with the same key is one effect.
type Idempotency string

// The idempotencies.
const (
	IdempotencyNone        Idempotency = "none"
	IdempotencyOptional    Idempotency = "optional"
	IdempotencyRequired    Idempotency = "required"
	IdempotencyToolManaged Idempotency = "tool_managed"
	IdempotencyUnsupported Idempotency = "unsupported"
)

// Effect is what a tool's calls do to the world.
type Effect struct {
	Mutation    Mutation    `json:"mutation"`
	Idempotency Idempotency `json:"idempotency"`
}

// Mutates reports whether calls can change anything.
func (e Effect) Mutates() bool { return e.Mutation != MutatesNothing }

// Witnessed reports whether calls say themselves what they are about to change; see
// [Planned]. Others are on record as something that may have happened from the moment
// they begin.
func (e Effect) Witnessed() bool {
	return e.Mutation == MutatesLocally && (e.Idempotency == IdempotencyOptional || e.Idempotency == IdempotencyRequired)
}

// The effects that most tools have.
var (
	Observes         = Effect{MutatesNothing, IdempotencyNone}
	ChangesFiles     = Effect{MutatesLocally, IdempotencyOptional}
	RunsAnything     = Effect{MutatesExternally, IdempotencyUnsupported}
	RemembersLocally = Effect{MutatesLocally, IdempotencyToolManaged}
)

// InputBytes bounds the JSON text of one call's input.
var InputBytes = Limit{Name: "input", Default: 1 << 20, Hard: 128 << 20}

// MaxDepth is how deep the JSON of an input may nest.
const MaxDepth = 64

// Spec is the declaration of a tool. Everything a client sees of it, its
// schemas, its command-line form and its documentation derive from the Spec
// and the types given to [New].
type Spec struct {
	// Name is the name on the wire: lower-case words joined by underscores.
	Name string
	// Title is what a person reads in a list.
	Title string
	// Description tells a model when and how to use the tool. It is paid for
	// in every conversation, so it is short.
	Description string
	// Toolset is the group a host turns on or off (core, git, lsp, proc, …).
	Toolset string
	Kind    Kind
	Effect  Effect
	// Exclusive tools run alone within their session.
	Exclusive bool
	// Limits are the numeric or array inputs that have bounds; they become
	// minimum, maximum or maxItems in the schema.
	Limits []Limit
	// InputBytes caps the input's JSON text; zero means InputBytes.Default.
	InputBytes int64
	// Timeout bounds a whole call; zero means that the tool bounds itself.
	Timeout time.Duration
}

var toolName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

func (s *Spec) check() error {
	switch {
	case !toolName.MatchString(s.Name):
		return Errorf(CodeToolInput, "tool name %q is not lower-case words joined by underscores", s.Name)
	case s.Title == "" || s.Description == "" || s.Toolset == "" || s.Kind == "":
		return Errorf(CodeToolInput, "tool %s needs a title, a description, a toolset and a kind", s.Name)
	case s.Effect.Mutation == "" || s.Effect.Idempotency == "":
		return Errorf(CodeToolInput, "tool %s needs an effect", s.Name)
	}
	size, err := InputBytes.Option(s.InputBytes)
	if err != nil {
		return err
	}
	s.InputBytes = size
	return nil
}
