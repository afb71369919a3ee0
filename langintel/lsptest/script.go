package lsptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Script says what the server does. What no rule speaks of is handled plainly:
// initialize gets the capabilities, shutdown gets null, exit ends the process,
// other requests get MethodNotFound.
type Script struct {
	// Capabilities is the JSON of ServerCapabilities; empty: none.
	Capabilities string
	// Start is done before anything is read.
	Start []Action
	On    []Rule
	// Stubborn: neither SIGTERM, nor the exit notification, nor the end of its input
	// ends the server.
	Stubborn bool
}

// Rule says what to do when a message of a method arrives. The first rule that
// matches is followed.
type Rule struct {
	Method string
	// Nth is which of them, from 1, in this life of the server; 0: every one.
	Nth int
	// Life is in which life of the server, from 1; 0: in every one.
	Life int
	// Until is how many milliseconds after initialize the rule holds; 0: for ever.
	Until int
	// Has is a text that the parameters, as JSON, must contain.
	Has string
	Do  []Action
}

// Action is one thing to do; exactly one field of the first group is set. In all
// texts ${root} stands for the root URI that the client gave; ${uri} and ${version}
// for those of the text document in the message that is being handled; ${n} for
// the number of the repetition, from 0; ${fill} for Fill letters.
type Action struct {
	Reply   string // JSON of the result
	Error   string // JSON of the error object
	Notify  string // JSON of a whole notification, without "jsonrpc"
	Request string // JSON of a whole request, without "jsonrpc" and "id"
	Raw     string // written to standard output as it is
	Stderr  string // written to standard error
	Run     string // a shell script that is started, and not waited for
	Hang    bool   // stop everything, reading too
	Exit    int    // end the process with this code
	Sleep   int    // wait, in milliseconds

	// After does it so many milliseconds later, while the server goes on: what comes
	// after it is not held up. What is due first is done first, however busy the
	// machine is. Not for a Request with Await.
	After int
	// Await waits for the client's answer to Request.
	Await bool
	// Repeat does it this often.
	Repeat int
	// Fill is how many letters ${fill} stands for.
	Fill int
	// Split writes what is sent in pieces of this many bytes, Cut in two pieces of
	// which the first has this many.
	Split, Cut int
	// Head is the header of what is sent, with %d for its length; empty: the usual.
	Head string
}

// Record is where a server notes what it receives.
type Record struct{ path string }

// Message is what a server received.
type Message struct {
	Method string          `json:"method"`
	ID     json.RawMessage `json:"id"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

const argument = "lsptest-server"

// Command writes a script down and returns how to start a server that follows
// it.
func Command(t testing.TB, script *Script) (program string, args []string, record *Record) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "script.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	record = &Record{filepath.Join(dir, "record.json")}
	return program, []string{argument, path, record.path}, record
}

// Messages returns what the server has received so far, over all its lives.
func (r *Record) Messages(t testing.TB) []Message {
	t.Helper()
	file, err := os.Open(r.path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out []Message
	for lines := json.NewDecoder(file); ; {
		var m Message
		if lines.Decode(&m) != nil {
			return out // the end, or a line that is just being written
		}
		out = append(out, m)
	}
}

// Of returns the messages of a method that the server has received so far.
func (r *Record) Of(t testing.TB, method string) []Message {
	t.Helper()
	var out []Message
	for _, m := range r.Messages(t) {
		if m.Method == method {
			out = append(out, m)
		}
	}
	return out
}

// Wait returns the messages of a method once there are n of them, and fails the
// test when that takes longer than ten seconds.
func (r *Record) Wait(t testing.TB, method string, n int) []Message {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		out := r.Of(t, method)
		if len(out) >= n {
			return out
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server received %d × %s, want %d", len(out), method, n)
		}
		<-tick.C
	}
}
