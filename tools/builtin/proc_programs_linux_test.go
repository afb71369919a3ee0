package builtin_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools/builtin"
)

// needs finds a program that a test is about.
func needs(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed", name)
		}
		t.Skipf("%s is not installed", name)
	}
	return path
}

// freePort is one that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// typed gives a session input and returns the output that followed.
func (h *host) typed(in args) builtin.ProcTyped {
	h.t.Helper()
	var m builtin.ProcTyped
	h.ok("proc_input", in, &m)
	return m
}

const devServer = `
import http.server, os, sys, threading, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = open('page.html', 'rb').read()
        self.send_response(200); self.end_headers(); self.wfile.write(body)
    def log_message(self, form, *args):
        print('GET', self.path, flush=True)
print('compiling', flush=True)
server = http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler)
print('ready on http://127.0.0.1:%s/' % sys.argv[1], flush=True)
def watch():
    last = os.stat('page.html').st_mtime_ns
    while True:
        time.sleep(0.02)
        now = os.stat('page.html').st_mtime_ns
        if now != last:
            last = now
            print('rebuilt page.html', flush=True)
threading.Thread(target=watch, daemon=True).start()
server.serve_forever()
`

// TestProcDevServer is an agent's whole loop: start a server and know when it is
// there, edit, read only what is new, see the result, end it.
func TestProcDevServer(t *testing.T) {
	python := needs(t, "python3")
	h := newProcHost(t, nil)
	h.write("server.py", devServer)
	h.write("page.html", "<h1>old</h1>\n")
	port := freePort(t)
	var server builtin.ProcStart
	h.ok("proc_start", args{
		"command": python, "args": []string{"server.py", fmt.Sprint(port)}, "name": "dev",
		"readyWhen": args{"port": port, "timeoutSeconds": 60},
	}, &server)
	if server.Ready == nil || !*server.Ready {
		t.Fatalf("started %+v", server)
	}
	h.matched(server.ID, "ready on", 0)
	if page, _ := h.output(args{"id": server.ID}); !strings.HasPrefix(page.Data, "compiling\nready on http://127.0.0.1:") || page.EOF || page.State != "running" {
		t.Errorf("the first page: %+v", page)
	}
	var list builtin.ProcList
	h.ok("proc_list", args{}, &list)
	if s := list.Sessions[0]; s.Name != "dev" || len(s.Ports) != 1 || s.Ports[0] != port || s.Input.State != "no" {
		t.Errorf("listed as %+v", s)
	}

	h.ok("edit", args{"path": "page.html", "edits": []args{{"oldText": "old", "newText": "new"}}}, nil)
	h.matched(server.ID, "rebuilt", server.Cursor)
	if page, _ := h.output(args{"id": server.ID}); page.Data != "rebuilt page.html\n" {
		t.Errorf("only what is new: %q", page.Data)
	}
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
	must(t, err)
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || string(body) != "<h1>new</h1>\n" {
		t.Errorf("served %q, %v", body, err)
	}
	h.matched(server.ID, "GET /", 0)
	h.ok("proc_kill", args{"id": server.ID}, nil)
	if conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second); err == nil {
		conn.Close()
		t.Error("it still listens")
	}
}

// TestProcShell: a shell with job control is one that a person would have.
func TestProcShell(t *testing.T) {
	h := newProcHost(t, nil)
	id := h.proc(args{"command": "bash", "args": []string{"--norc", "-i"}, "env": args{"PS1": "$ "}})
	if in := h.waiting(id); in.State != "accepts_input" && in.State != "blocked_read" {
		t.Errorf("at its prompt: %+v", in)
	}
	typed := h.typed(args{"id": id, "text": "cd /; pwd; sleep 300", "keys": []string{"enter"}})
	h.matched(id, "/\n", typed.Cursor)
	var m builtin.ProcWait
	h.ok("proc_wait", args{"id": id, "input": true, "timeoutSeconds": 1, "cursor": typed.Cursor}, &m)
	if m.Reason != "timeout" || m.Input.State != "no" {
		t.Errorf("while sleep runs: %+v", m)
	}
	typed = h.typed(args{"id": id, "keys": []string{"ctrl-z"}})
	h.matched(id, "Stopped", typed.Cursor)
	typed = h.typed(args{"id": id, "text": "bg; jobs; kill %1; wait; echo over $((6*7))\n"})
	h.matched(id, "over 42", typed.Cursor)
	typed = h.typed(args{"id": id, "text": "sleep 300\n"})
	h.matched(id, "sleep 300", typed.Cursor)
	eventually(t, 20*time.Second, "ctrl-c ends what is in the foreground", func() bool {
		typed := h.typed(args{"id": id, "keys": []string{"ctrl-c"}, "waitMs": 200})
		return strings.Contains(*typed.Output, "^C")
	})
	h.waiting(id)
	h.typed(args{"id": id, "eof": true})
	if m := h.exited(id); m.State != "exited" {
		t.Errorf("after end of input: %+v", m)
	}
}

func TestProcREPLs(t *testing.T) {
	for _, c := range []struct {
		program string
		args    []string
		prompt  string
		line    string
		want    string
	}{
		{"python3", []string{"-q"}, ">>> ", "print(6*7, 'é')", "42 é"},
		{"node", []string{"-i"}, "> ", "console.log(6*7, 'é')", "42 é"},
		{"sqlite3", nil, "sqlite> ", "select 6*7;", "42"},
		{"bc", []string{"-q"}, "", "6*7", "42"},
	} {
		t.Run(c.program, func(t *testing.T) {
			h := newProcHost(t, nil)
			id := h.proc(args{"command": needs(t, c.program), "args": append([]string{}, c.args...)})
			if c.prompt != "" {
				h.matched(id, c.prompt, 0)
			}
			if in := h.waiting(id); in.State != "accepts_input" && in.State != "blocked_read" {
				t.Errorf("at its prompt: %+v", in)
			}
			h.output(args{"id": id})
			typed := h.typed(args{"id": id, "text": c.line, "keys": []string{"enter"}, "waitMs": 10000})
			h.matched(id, c.want, typed.Cursor)
			h.waiting(id)
			if page, text := h.output(args{"id": id, "cursor": typed.Cursor}); !strings.Contains(page.Data, c.want) || !strings.Contains(text, "input") {
				t.Errorf("after its answer: %q", text)
			}
			h.ok("proc_kill", args{"id": id}, nil)
		})
	}
}

// TestProcWatcher: a watcher that npm runs, with its children, ends with its session.
func TestProcWatcher(t *testing.T) {
	npm := needs(t, "npm")
	h := newProcHost(t, nil)
	h.write("package.json", `{"name": "w", "version": "1.0.0", "scripts": {"dev": "node watch.js"}}`)
	h.write("src.js", "1")
	h.write("watch.js", `const fs = require('fs'); fs.writeFileSync('pid', String(process.pid));
let runs = 0, last = fs.readFileSync('src.js', 'utf8'); const build = () => console.log('build', ++runs); build();
setInterval(() => { const now = fs.readFileSync('src.js', 'utf8'); if (now !== last) { last = now; build(); } }, 20);`)
	id := h.proc(args{"command": npm, "args": []string{"run", "dev"}, "env": args{"NO_UPDATE_NOTIFIER": "1", "npm_config_update_notifier": "false"}})
	at := h.matched(id, "build 1", 0).Cursor
	h.ok("write", args{"path": "src.js", "content": "22"}, nil)
	h.matched(id, "build 2", at)
	h.ok("proc_kill", args{"id": id}, nil)
	if _, err := os.Stat(filepath.Join("/proc", h.content("pid"))); err == nil {
		t.Error("the watcher survived npm")
	}
}

// TestProcPassword: what is typed without echo is in no page, and the mode is told.
func TestProcPassword(t *testing.T) {
	python := needs(t, "python3")
	h := newProcHost(t, nil)
	id := h.proc(args{"command": python, "args": []string{"-c", "import getpass; p = getpass.getpass('[sudo] password for agent: '); print(len(p), 'letters')"}})
	if in := h.waiting(id); in.State != "blocked_read" || in.Mode != "password" {
		t.Errorf("at a password prompt: %+v", in)
	}
	if _, text := h.output(args{"id": id}); !strings.Contains(text, "[sudo] password for agent:") || !strings.HasSuffix(text, "[running, waits for input (password)]") {
		t.Errorf("told %q", text)
	}
	typed := h.typed(args{"id": id, "text": "correct horse", "keys": []string{"enter"}, "waitMs": 5000})
	h.matched(id, "13 letters", typed.Cursor)
	h.exited(id)
	for _, view := range []string{"raw", "text"} {
		if page, _ := h.output(args{"id": id, "cursor": 0, "view": view}); strings.Contains(page.Data, "horse") {
			t.Errorf("%s view: %q", view, page.Data)
		}
	}
}

// TestProcAnswersTerminal: a program that asks where the cursor is gets an answer,
// though nobody looks.
func TestProcAnswersTerminal(t *testing.T) {
	h := newProcHost(t, nil)
	id := h.proc(args{"command": `stty -echo -icanon min 1; printf 'abc\033[6n'; IFS= read -rs -d R answer; printf 'answer %q\n' "$answer"`})
	h.matched(id, "answer ", 0)
	h.exited(id)
	page, _ := h.output(args{"id": id, "cursor": 0, "view": "raw"})
	if !regexp.MustCompile(`answer .*\[\d+;\d+`).MatchString(page.Data) {
		t.Errorf("answered %q", page.Data)
	}
}

// TestProcNothingLeft: what ignores TERM, and what detaches twice, ends as well.
func TestProcNothingLeft(t *testing.T) {
	h := newProcHost(t, nil)
	record := fmt.Sprintf("echo $$ >>%s; ", h.path("pids"))
	id := h.proc(args{"command": fmt.Sprintf(`(setsid sh -c '(%[1]strap "" TERM HUP; while :; do sleep 1; done) & %[1]ssleep 301' &) ; setsid sh -c 'trap "" TERM HUP INT; %[1]swhile :; do sleep 1; done' & nohup sleep 302 >/dev/null & echo $! >>%[2]s; trap "" TERM HUP; %[1]secho armed; while :; do sleep 1; done`,
		record, h.path("pids"))})
	h.matched(id, "armed", 0)
	eventually(t, 20*time.Second, "all of them run", func() bool { return strings.Count(h.content("pids"), "\n") >= 5 })
	var killed builtin.ProcKill
	h.ok("proc_kill", args{"id": id}, &killed)
	if len(killed.Survivors) != 0 {
		t.Errorf("survivors: %+v", killed.Survivors)
	}
	for _, pid := range strings.Fields(h.content("pids")) {
		if line, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline")); err == nil && len(line) > 0 {
			t.Errorf("process %s still runs: %q", pid, line)
		}
	}
}
