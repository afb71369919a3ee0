package procsess

import (
	"encoding/json"
	"syscall"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// The requests of a registry to a holder. The first of a connection is hello (of the
// one that a holder is born with: start); the others are the verbs of a session, and
// those of the streams that are attached.
const (
	callStart   = "start"
	callHello   = "hello"
	callInfo    = "info"
	callOutput  = "output"
	callInput   = "input"
	callWait    = "wait"
	callSignal  = "signal"
	callKill    = "kill"
	callRelease = "release"
	callResize  = "resize"
	callOver    = "over"
	callDiscard = "discard"
	callAttach  = "attach"
	callNext    = "next"
	callTyped   = "typed"
	callResized = "resized"
	callDetach  = "detach"
)

// processRef names a process beyond its number's reuse.
type processRef struct {
	PID int `json:"pid"`
	// Started is in clock ticks since the machine was started (field 22 of
	// proc_pid_stat(5)); 0 is a process that had ended before anybody could look.
	Started uint64 `json:"started"`
}

// reference is what a holder says of itself; all of it has to be as recorded.
type reference struct {
	Session string     `json:"session"`
	Holder  processRef `json:"holder"`
	Child   processRef `json:"child"`
	Boot    string     `json:"boot"`
	// Mark is a secret of the session that only its holder has; the record has its
	// hash.
	Mark string `json:"mark"`
}

// commission is what a holder is born for.
type commission struct {
	// Launch is a launch, encoded by package gob: arguments need not be UTF-8, which
	// JSON's text has to be.
	Launch []byte `json:"launch"`
	Mark   string `json:"mark"`
	Fence  int64  `json:"fence"`
	// Sessions is the directory of the sockets, Socket this one's name there.
	Sessions string `json:"sessions"`
	Socket   string `json:"socket"`
	// Kept bounds the output on disk.
	Kept int64 `json:"kept"`
}

// hello opens a connection. Fence is what the caller has taken in the session's
// record; whoever has a lower one than was seen is refused, and loses the connections
// that it has.
type hello struct {
	Session string `json:"session"`
	Fence   int64  `json:"fence"`
}

type welcome struct {
	Reference reference `json:"reference"`
	Info      Info      `json:"info"`
}

// typing is a Type. Its text need not be UTF-8.
type typing struct {
	Text  []byte
	Paste []byte
	Rest  Type // Keys, EOF and Wait
}

func (t Type) onWire() typing {
	out := typing{Text: []byte(t.Text), Paste: []byte(t.Paste), Rest: t}
	out.Rest.Text, out.Rest.Paste = "", ""
	return out
}

func (t typing) input() Type {
	out := t.Rest
	out.Text, out.Paste = string(t.Text), string(t.Paste)
	return out
}

// waitedOnWire is a Waited; what matched need not be UTF-8.
type waitedOnWire struct {
	Matched []byte
	Rest    Waited
}

type (
	nothing    struct{}
	signalling struct{ Signal syscall.Signal }
	killing    struct{ By By }
	sizing     struct {
		Stream        int64
		Columns, Rows int
	}
	attaching struct{ From int64 }
	attached  struct{ Stream int64 }
	following struct {
		Stream int64
		Most   int
	}
	followed struct {
		Data []byte
		At   int64
		EOF  bool
	}
	keying struct {
		Stream int64
		Data   []byte
	}
	killed struct{ Report child.KillReport }
)

// failure is a tools.Error on the wire.
type failure struct {
	Code    tools.Code      `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details,omitempty"`
}

func encodeFailure(err error) json.RawMessage {
	coded := tools.AsError(err)
	f := failure{Code: coded.Code, Message: coded.Message}
	if coded.Details != nil {
		f.Details, _ = json.Marshal(coded.Details) // without them it is still the same error
	}
	body, _ := json.Marshal(f) // text and valid JSON
	return body
}

// decodeFailure is the error that encodeFailure was made of.
func decodeFailure(body []byte) error {
	var f failure
	if json.Unmarshal(body, &f) != nil || f.Code == "" {
		return tools.Errorf(tools.CodeRecoveryUntrusted, "the holder answered with an error of no known form")
	}
	out := tools.Errorf(f.Code, "%s", f.Message)
	if f.Details != nil {
		out = out.WithDetails(f.Details)
	}
	return out
}
