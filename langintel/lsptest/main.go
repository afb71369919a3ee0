package lsptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Main runs a scripted server and exits, if that is what the process was started
// for; otherwise it returns.
func Main() {
	if len(os.Args) != 4 || os.Args[1] != argument {
		return
	}
	text, err := os.ReadFile(os.Args[2])
	if err != nil {
		fail(err)
	}
	s := &server{in: bufio.NewReader(os.Stdin), seen: map[string]int{}, late: schedule{woken: make(chan struct{}, 1)}}
	go s.late.run()
	if err := json.Unmarshal(text, &s.script); err != nil {
		fail(err)
	}
	s.life = live(os.Args[3] + ".lives")
	if s.record, err = os.OpenFile(os.Args[3], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		fail(err)
	}
	if s.script.Stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	s.perform(s.script.Start, Message{})
	for {
		message, err := s.next()
		if err != nil {
			s.end()
		}
		s.handle(message)
	}
}

// live counts the lives of a server in a file, a byte each.
func live(path string) int {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fail(err)
	}
	defer file.Close()
	if _, err := file.WriteString("."); err != nil {
		fail(err)
	}
	info, err := file.Stat()
	if err != nil {
		fail(err)
	}
	return int(info.Size())
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "lsptest:", err)
	os.Exit(70)
}

type server struct {
	script Script
	in     *bufio.Reader
	record *os.File
	root   string
	life   int
	began  time.Time      // when initialize came
	seen   map[string]int // messages by method

	late  schedule
	mu    sync.Mutex // one message at a time on standard output
	asked int        // our own requests
}

// end ends the process, unless nothing but force may.
func (s *server) end() {
	if s.script.Stubborn {
		select {}
	}
	os.Exit(0)
}

// next reads and records one message.
func (s *server) next() (Message, error) {
	length := -1
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return Message{}, err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if name, value, ok := strings.Cut(line, ":"); ok && name == "Content-Length" {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return Message{}, err
			}
		}
	}
	body := make([]byte, max(length, 0))
	if _, err := io.ReadFull(s.in, body); err != nil {
		return Message{}, err
	}
	var m Message
	if err := json.Unmarshal(body, &m); err != nil {
		fail(err)
	}
	if _, err := s.record.Write(append(body, '\n')); err != nil {
		fail(err)
	}
	return m, nil
}

func (s *server) handle(m Message) {
	if m.Method == "initialize" {
		var params struct {
			RootURI string `json:"rootUri"`
		}
		if err := json.Unmarshal(m.Params, &params); err != nil {
			fail(err)
		}
		s.root, s.began = params.RootURI, time.Now()
	}
	s.seen[m.Method]++
	for _, rule := range s.script.On {
		if s.matches(rule, m) {
			s.perform(rule.Do, m)
			return
		}
	}
	switch {
	case m.Method == "initialize":
		capabilities := s.script.Capabilities
		if capabilities == "" {
			capabilities = "{}"
		}
		s.do(Action{Reply: `{"capabilities":` + capabilities + `}`}, m, 0)
	case m.Method == "shutdown":
		s.do(Action{Reply: "null"}, m, 0)
	case m.Method == "exit":
		if !s.script.Stubborn {
			os.Exit(0)
		}
	case m.ID != nil && m.Method != "":
		s.do(Action{Error: `{"code":-32601,"message":"not in the script"}`}, m, 0)
	}
}

func (s *server) matches(rule Rule, m Message) bool {
	return rule.Method == m.Method && (rule.Nth == 0 || rule.Nth == s.seen[m.Method]) &&
		(rule.Life == 0 || rule.Life == s.life) &&
		(rule.Until == 0 || time.Since(s.began) < time.Duration(rule.Until)*time.Millisecond) && strings.Contains(string(m.Params), rule.Has)
}

func (s *server) perform(actions []Action, m Message) {
	for _, a := range actions {
		for n := range max(a.Repeat, 1) {
			if a.After == 0 {
				s.do(a, m, n)
				continue
			}
			s.late.add(time.Now().Add(time.Duration(a.After)*time.Millisecond), func() { s.do(a, m, n) })
		}
	}
}

func (s *server) do(a Action, m Message, n int) {
	fill := s.filler(a, m, n)
	switch {
	case a.Reply != "":
		s.send(a, `"id":`+string(m.ID)+`,"result":`+fill(a.Reply)+"}")
	case a.Error != "":
		s.send(a, `"id":`+string(m.ID)+`,"error":`+fill(a.Error)+"}")
	case a.Notify != "":
		s.send(a, strings.TrimPrefix(fill(a.Notify), "{"))
	case a.Request != "":
		s.request(a, fill(a.Request))
	case a.Raw != "":
		s.write(fill(a.Raw), a)
	case a.Stderr != "":
		fmt.Fprint(os.Stderr, a.Stderr)
	case a.Run != "":
		cmd := exec.Command("/bin/sh", "-c", a.Run)
		if err := cmd.Start(); err != nil {
			fail(err)
		}
	case a.Hang:
		s.mu.Lock()
		select {}
	case a.Exit != 0:
		os.Exit(a.Exit)
	case a.Sleep != 0:
		time.Sleep(time.Duration(a.Sleep) * time.Millisecond)
	}
}

// request asks the client, and with Await handles what comes before the answer.
func (s *server) request(a Action, body string) {
	s.mu.Lock()
	s.asked++
	id := fmt.Sprintf(`"ask-%d"`, s.asked)
	s.mu.Unlock()
	s.send(a, `"id":`+id+`,`+strings.TrimPrefix(body, "{"))
	for a.Await {
		answer, err := s.next()
		if err != nil {
			s.end()
		}
		if answer.Method == "" && string(answer.ID) == id {
			break
		}
		s.handle(answer)
	}
}

// filler replaces what stands for something else in an action's texts.
func (s *server) filler(a Action, m Message, n int) func(string) string {
	var params struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
		} `json:"textDocument"`
	}
	_ = json.Unmarshal(m.Params, &params) // messages without a document have none
	pairs := []string{
		"${root}", s.root, "${n}", strconv.Itoa(n),
		"${uri}", params.TextDocument.URI, "${version}", strconv.Itoa(params.TextDocument.Version),
	}
	if a.Fill > 0 {
		pairs = append(pairs, "${fill}", strings.Repeat("x", a.Fill))
	}
	return strings.NewReplacer(pairs...).Replace
}

// send frames a message; body lacks its beginning.
func (s *server) send(a Action, body string) {
	body = `{"jsonrpc":"2.0",` + body
	head := a.Head
	if head == "" {
		head = "Content-Length: %d\r\n\r\n"
	}
	s.write(fmt.Sprintf(head, len(body))+body, a)
}

func (s *server) write(text string, a Action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const pause = 50 * time.Microsecond // so that the pieces arrive as such
	for a.Split > 0 && len(text) > a.Split {
		s.out(text[:a.Split])
		text = text[a.Split:]
		time.Sleep(pause)
	}
	if a.Cut > 0 && a.Cut < len(text) {
		s.out(text[:a.Cut])
		text = text[a.Cut:]
		time.Sleep(pause)
	}
	s.out(text)
}

func (s *server) out(text string) {
	if _, err := os.Stdout.WriteString(text); err != nil {
		s.end()
	}
}
