package langintel

import (
	"context"
	"strings"
	"time"

	"go.lsp.dev/protocol"
)

// Readiness is a strategy that tells when a server's answers across files are
// final: references, renames, implementations, workspace symbols. A server that
// is still loading answers with less than there is, mostly with nothing.
type Readiness interface {
	// Name is how documentation and status call the strategy.
	Name() string
	// wait returns "" once the server's answers are final, or what it is still doing
	// when ctx ends. certain is whether an empty answer after that means that there
	// is nothing.
	wait(ctx context.Context, v *session) (pending string)
	certain() bool
}

// Blocks is the readiness of a server that holds its answers back until it has
// loaded what they need.
func Blocks() Readiness { return blocks{} }

type blocks struct{}

func (blocks) Name() string                          { return "blocks" }
func (blocks) wait(context.Context, *session) string { return "" }
func (blocks) certain() bool                         { return true }

// AfterProgress is the readiness of a server that reports its loading as
// progress (LSP 3.17 §workDoneProgress): final when every token that begins with
// one of the names, of any token when there is none, has ended. A server that
// begins none within the given time of its start has nothing to load.
func AfterProgress(begins time.Duration, tokens ...string) Readiness {
	return afterProgress{begins, tokens}
}

type afterProgress struct {
	begins time.Duration
	tokens []string
}

func (afterProgress) Name() string  { return "progress" }
func (afterProgress) certain() bool { return true }

func (r afterProgress) counts(token string) bool {
	for _, prefix := range r.tokens {
		if strings.HasPrefix(token, prefix) {
			return true
		}
	}
	return len(r.tokens) == 0
}

func (r afterProgress) wait(ctx context.Context, v *session) string {
	late := v.initialized.Add(r.begins)
	pending := v.await(ctx, late, func() (bool, <-chan struct{}) {
		open, ended, moved := v.work.state(r.counts)
		return ended && open == "", moved
	})
	if pending != tooLate {
		return pending
	}
	// What began before the time was over is waited for to its end.
	return v.await(ctx, time.Time{}, func() (bool, <-chan struct{}) {
		open, _, moved := v.work.state(r.counts)
		return open == "", moved
	})
}

// Quiescent is the readiness of a server that says when it has nothing left to
// do by experimental/serverStatus, an extension of rust-analyzer.
func Quiescent() Readiness { return serverStatus{} }

type serverStatus struct{}

func (serverStatus) Name() string  { return "server_status" }
func (serverStatus) certain() bool { return true }

func (serverStatus) wait(ctx context.Context, v *session) string {
	return v.await(ctx, time.Time{}, func() (bool, <-chan struct{}) {
		state, moved := v.signals.status()
		return state.quiescent, moved
	})
}

// AfterNotification is the readiness of a server that announces the end of its
// loading by a notification of its own.
func AfterNotification(method string) Readiness { return afterNotification{method} }

type afterNotification struct{ method string }

func (afterNotification) Name() string  { return "notification" }
func (afterNotification) certain() bool { return true }

func (r afterNotification) wait(ctx context.Context, v *session) string {
	return v.await(ctx, time.Time{}, func() (bool, <-chan struct{}) {
		seen, moved := v.signals.seen(r.method)
		return seen > 0, moved
	})
}

// AfterLog is the readiness of a server that tells the end of its loading in its
// log alone, in a message that holds some text, at the latest within a time.
func AfterLog(text string, within time.Duration) Readiness { return afterLog{text, within} }

type afterLog struct {
	text   string
	within time.Duration
}

func (afterLog) Name() string  { return "log" }
func (afterLog) certain() bool { return true }

func (r afterLog) listens() string { return r.text }

func (r afterLog) wait(ctx context.Context, v *session) string {
	pending := v.await(ctx, v.initialized.Add(r.within), v.signals.logged)
	if pending == tooLate {
		return "it has not said that it has read all files"
	}
	return pending
}

// AfterRefreshes is the readiness of a server that answers before it has listed
// the workspace: from what is open, or with nothing. It asks for diagnostics to be
// asked for again (LSP 3.17 §diagnostic_refresh) at each step of its loading, so
// many times in all. Within patience of the answer to a question about an open
// file, which it holds back until it has read its configuration, all have come, or
// another version of the server does it otherwise.
func AfterRefreshes(times int, patience time.Duration) Readiness {
	return afterRefreshes{times, patience}
}

type afterRefreshes struct {
	times    int
	patience time.Duration
}

func (afterRefreshes) Name() string  { return "refreshes" }
func (afterRefreshes) certain() bool { return true }

func (r afterRefreshes) wait(ctx context.Context, v *session) string {
	const method = "workspace/diagnostic/refresh"
	if seen, _ := v.signals.seen(method); seen >= r.times {
		return ""
	}
	open := v.docs.paths()
	if len(open) == 0 {
		return "" // there is no file that it could know
	}
	id := protocol.TextDocumentIdentifier{URI: v.uriOf(open[0])}
	if err := v.read(ctx, "textDocument/documentSymbol", protocol.DocumentSymbolParams{TextDocument: id}, nil); err != nil && !refused(err) {
		return describe("")
	}
	pending := v.await(ctx, time.Now().Add(r.patience), func() (bool, <-chan struct{}) {
		seen, moved := v.signals.seen(method)
		return seen >= r.times, moved
	})
	if pending == tooLate {
		return "it has not said that it has listed the workspace"
	}
	return pending
}

// Unknown is the readiness of any server: final when no progress is open. What it
// says before it has ended one is taken for part of the answer when it is empty.
func Unknown() Readiness { return unknown{} }

type unknown struct{}

func (unknown) Name() string  { return "reask" }
func (unknown) certain() bool { return false }

func (unknown) wait(ctx context.Context, v *session) string {
	return v.await(ctx, time.Time{}, func() (bool, <-chan struct{}) {
		open, _, moved := v.work.state(nil)
		return open == "", moved
	})
}

// tooLate is what await returns when the time is over first.
const tooLate = "it takes longer than was to be expected"

// await waits until a state is reached, and looks again whenever it has moved; it
// returns "" then, tooLate after a moment that is not zero, or why it cannot be
// reached any more.
func (v *session) await(ctx context.Context, late time.Time, state func() (reached bool, moved <-chan struct{})) (pending string) {
	var over <-chan time.Time
	if !late.IsZero() {
		timer := time.NewTimer(time.Until(late))
		defer timer.Stop()
		over = timer.C
	}
	for {
		reached, moved := state()
		if reached {
			return ""
		}
		select {
		case <-moved:
		case <-over:
			return tooLate
		case <-v.dead:
			return "it ended"
		case <-ctx.Done():
			open, _, _ := v.work.state(nil)
			return describe(open)
		}
	}
}

func describe(work string) string {
	if work == "" {
		return "it is still loading"
	}
	return "it is still busy: " + work
}

func (s *Spec) ready() Readiness {
	if s.Ready == nil {
		return Unknown()
	}
	return s.Ready
}

// settle brings the server to where its answers across files are final, and
// returns what it is still doing when that takes longer than a start may.
func (v *session) settle(ctx context.Context) (pending string) {
	ctx, cancel := context.WithTimeout(ctx, v.client.opts.StartTimeout)
	defer cancel()
	if err := v.prime(ctx); err != nil {
		return "its projects are not all loaded: " + oneLine(err.Error(), 200)
	}
	return v.spec.ready().wait(ctx, v)
}
