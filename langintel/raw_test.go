package langintel_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

// rawCommand is how a server is run with none of our client in between.
type rawCommand struct {
	dir      string
	argv     []string
	env      map[string]string
	options  any            // initializationOptions
	settings map[string]any // answers to workspace/configuration, by section
}

// rawClient speaks to a server over pipes and keeps what the server says.
type rawClient struct {
	t       testing.TB
	command rawCommand
	started time.Time
	in      io.WriteCloser

	mu      sync.Mutex
	id      int
	waiting map[int]chan rawMessage
	ended   bool
	close   func()       // ends the server and waits for it
	heard   []rawMessage // requests and notifications, in order
	moved   chan struct{}
	version map[string]int
}

type rawMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	at     time.Duration   // since the start
}

// rawCapabilities are those of an editor that does all that the tests look at.
const rawCapabilities = `{"general":{"positionEncodings":["utf-16"]},
"workspace":{"configuration":true,"workspaceFolders":true,"didChangeWatchedFiles":{"dynamicRegistration":true,"relativePatternSupport":true},"diagnostics":{"refreshSupport":true},
 "fileOperations":{"willRename":true,"didRename":true},"workspaceEdit":{"documentChanges":true}},
"textDocument":{"synchronization":{"didSave":true},"publishDiagnostics":{"versionSupport":true,"relatedInformation":true},
 "diagnostic":{"dynamicRegistration":true,"relatedDocumentSupport":true},"documentSymbol":{"hierarchicalDocumentSymbolSupport":true},
 "definition":{"linkSupport":true},"rename":{"prepareSupport":true}},
"window":{"workDoneProgress":true}}`

// startRawClient runs a server and initializes it.
func startRawClient(t testing.TB, command rawCommand) *rawClient {
	t.Helper()
	cmd := exec.Command(command.argv[0], command.argv[1:]...)
	cmd.Dir, cmd.Env = command.dir, child.Environment(os.Environ(), command.env)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	r := &rawClient{t: t, command: command, in: in, waiting: map[int]chan rawMessage{}, moved: make(chan struct{}), version: map[string]int{}, started: time.Now()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		r.read(bufio.NewReaderSize(out, 64<<10))
	}()
	r.close = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_, _ = r.try(ctx, "shutdown", nil)
		r.notify("exit", nil)
		_ = in.Close()
		select {
		case <-read:
		case <-ctx.Done():
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait()
	})
	t.Cleanup(r.close)
	r.call("initialize", map[string]any{
		"processId": os.Getpid(), "rootPath": command.dir, "rootUri": rawURI(command.dir), "capabilities": json.RawMessage(rawCapabilities),
		"initializationOptions": command.options,
		"workspaceFolders":      []any{map[string]string{"uri": rawURI(command.dir), "name": "root"}},
	})
	r.notify("initialized", map[string]any{})
	return r
}

func rawURI(path string) string { return "file://" + filepath.ToSlash(path) }

// uri names a file of the workspace.
func (r *rawClient) uri(name string) string { return rawURI(filepath.Join(r.command.dir, name)) }

func (r *rawClient) read(out *bufio.Reader) {
	for {
		header, err := textproto.NewReader(out).ReadMIMEHeader()
		if err != nil {
			break
		}
		length, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			break
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(out, body); err != nil {
			break
		}
		m := rawMessage{at: time.Since(r.started)}
		if err := json.Unmarshal(body, &m); err != nil {
			break
		}
		r.take(m)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for _, ch := range r.waiting {
		close(ch)
	}
}

func (r *rawClient) take(m rawMessage) {
	if m.Method == "" {
		var id int
		_ = json.Unmarshal(m.ID, &id)
		r.mu.Lock()
		ch := r.waiting[id]
		delete(r.waiting, id)
		r.mu.Unlock()
		if ch != nil {
			ch <- m
		}
		return
	}
	r.mu.Lock()
	r.heard = append(r.heard, m)
	close(r.moved)
	r.moved = make(chan struct{})
	r.mu.Unlock()
	if m.ID != nil {
		r.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": r.answer(m)})
	}
}

// answer is what the client says to a request of the server.
func (r *rawClient) answer(m rawMessage) any {
	if m.Method != "workspace/configuration" {
		return nil
	}
	var p struct {
		Items []struct{ Section string }
	}
	_ = json.Unmarshal(m.Params, &p)
	out := make([]any, len(p.Items))
	for i, item := range p.Items {
		out[i] = r.command.settings[item.Section]
	}
	return out
}

func (r *rawClient) send(message any) {
	body, err := json.Marshal(message)
	if err != nil {
		r.t.Error(err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = io.WriteString(r.in, "Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+string(body))
}

func (r *rawClient) notify(method string, params any) {
	message := map[string]any{"jsonrpc": "2.0", "method": method}
	if params != nil { // some servers refuse a null
		message["params"] = params
	}
	r.send(message)
}

// try sends a request and returns its result, or the error as it was sent.
func (r *rawClient) try(ctx context.Context, method string, params any) (json.RawMessage, error) {
	ch := make(chan rawMessage, 1)
	r.mu.Lock()
	r.id++
	id := r.id
	ended := r.ended
	if !ended {
		r.waiting[id] = ch
	}
	r.mu.Unlock()
	if ended {
		return nil, fmt.Errorf("%s: the server ended", method)
	}
	r.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	select {
	case m, ok := <-ch:
		switch {
		case !ok:
			return nil, fmt.Errorf("%s: the server ended", method)
		case m.Error != nil:
			return nil, fmt.Errorf("%s: %s", method, m.Error)
		}
		return m.Result, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// call is try for a request that must succeed.
func (r *rawClient) call(method string, params any) json.RawMessage {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	result, err := r.try(ctx, method, params)
	if err != nil {
		r.t.Fatal(err)
	}
	return result
}

// open and change send a text; what is on the disk is left alone.
func (r *rawClient) open(name, language, text string) {
	r.version[name] = 1
	r.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": r.uri(name), "languageId": language, "version": 1, "text": text}})
}

func (r *rawClient) change(name, text string) {
	r.version[name]++
	r.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": r.uri(name), "version": r.version[name]},
		"contentChanges": []any{map[string]string{"text": text}},
	})
}

// at is the position parameters of most requests.
func (r *rawClient) at(name string, line, character int) map[string]any {
	return map[string]any{
		"textDocument": map[string]string{"uri": r.uri(name)},
		"position":     map[string]int{"line": line, "character": character},
	}
}

// references asks with the declaration, and returns how many there are; a server
// that answers that it is not ready knows none.
func (r *rawClient) references(name string, line, character int) int {
	r.t.Helper()
	params := r.at(name, line, character)
	params["context"] = map[string]bool{"includeDeclaration": true}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	result, err := r.try(ctx, "textDocument/references", params)
	if err != nil && ctx.Err() == nil {
		return 0
	}
	var list []json.RawMessage
	if err != nil || json.Unmarshal(result, &list) != nil {
		r.t.Fatalf("%s, %v", result, err)
	}
	return len(list)
}
