package lsptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
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
	s := &server{in: bufio.NewReader(os.Stdin), seen: map[string]int{}}
	if err := json.Unmarshal(text, &s.script); err != nil {
		fail(err)
	}
	if s.record, err = os.OpenFile(os.Args[3], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		fail(err)
	}
	s.perform(s.script.Start, Message{})
	for {
		message, err := s.next()
		if err != nil {
			os.Exit(0)
		}
		s.handle(message)
	}
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
	seen   map[string]int // messages by method
	asked  int            // our own requests
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
		s.root = params.RootURI
	}
	s.seen[m.Method]++
	for _, rule := range s.script.On {
		if rule.Method == m.Method && (rule.Nth == 0 || rule.Nth == s.seen[m.Method]) {
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
		s.reply(m, `"result":{"capabilities":`+capabilities+`}`, 0)
	case m.Method == "shutdown":
		s.reply(m, `"result":null`, 0)
	case m.Method == "exit":
		os.Exit(0)
	case m.ID != nil && m.Method != "":
		s.reply(m, `"error":{"code":-32601,"message":"not in the script"}`, 0)
	}
}

func (s *server) perform(actions []Action, m Message) {
	for _, a := range actions {
		for range max(a.Repeat, 1) {
			s.do(a, m)
		}
	}
}

func (s *server) do(a Action, m Message) {
	switch {
	case a.Reply != "":
		s.reply(m, `"result":`+a.Reply, a.Split)
	case a.Error != "":
		s.reply(m, `"error":`+a.Error, a.Split)
	case a.Notify != "":
		s.send(`{"jsonrpc":"2.0",`+strings.TrimPrefix(a.Notify, "{"), a.Split)
	case a.Request != "":
		s.asked++
		id := fmt.Sprintf(`"ask-%d"`, s.asked)
		s.send(`{"jsonrpc":"2.0","id":`+id+`,`+strings.TrimPrefix(a.Request, "{"), a.Split)
		for a.Await {
			answer, err := s.next()
			if err != nil {
				os.Exit(0)
			}
			if answer.Method == "" && string(answer.ID) == id {
				break
			}
			s.handle(answer)
		}
	case a.Raw != "":
		s.write(a.Raw, a.Split)
	case a.Stderr != "":
		fmt.Fprint(os.Stderr, a.Stderr)
	case a.Hang:
		select {}
	case a.Exit != 0:
		os.Exit(a.Exit)
	case a.Sleep != 0:
		time.Sleep(time.Duration(a.Sleep) * time.Millisecond)
	}
}

func (s *server) reply(m Message, outcome string, split int) {
	s.send(`{"jsonrpc":"2.0","id":`+string(m.ID)+`,`+outcome+`}`, split)
}

func (s *server) send(body string, split int) {
	body = strings.ReplaceAll(body, "${root}", s.root)
	s.write(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body), split)
}

func (s *server) write(text string, split int) {
	for split > 0 && len(text) > split {
		s.out(text[:split])
		text = text[split:]
		time.Sleep(50 * time.Microsecond) // so that the pieces arrive as such
	}
	s.out(text)
}

func (s *server) out(text string) {
	if _, err := os.Stdout.WriteString(text); err != nil {
		os.Exit(0)
	}
}
