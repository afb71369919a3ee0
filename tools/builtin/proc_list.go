package builtin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
)

// ProcSession is one session of `proc_list`.
type ProcSession struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Command    string    `json:"command"`
	State      string    `json:"state"`
	Input      ProcInput `json:"input"`
	PID        int       `json:"pid"`
	PTY        bool      `json:"pty"`
	Durable    bool      `json:"durable"`
	Owner      string    `json:"owner"`
	StartedAt  string    `json:"startedAt"`
	AgeSeconds int64     `json:"ageSeconds"`
	Cursor     int64     `json:"cursor"`
	Ports      []int     `json:"ports"`
	Degraded   string    `json:"degraded,omitempty"`
	Exit       *ProcExit `json:"exit,omitempty"`
}

// ProcList is the metadata of `proc_list`.
type ProcList struct {
	Sessions  []ProcSession `json:"sessions"`
	Truncated bool          `json:"truncated"`
}

func (p *sessions) list() (*tools.Tool, error) {
	spec := procSpec("proc_list", "List sessions", "Your sessions.", tools.Observes)
	return procTool(p, spec, nil, func(ctx context.Context, call *tools.Call, _ struct{}) (*tools.Outcome[ProcList], error) {
		m := ProcList{Sessions: []ProcSession{}}
		var lines []string
		for _, info := range p.Sessions.List(ctx, caller(call)) {
			session := ProcSessionOf(&info)
			m.Sessions = append(m.Sessions, session)
			lines = append(lines, session.line())
		}
		if len(lines) == 0 {
			lines = []string{"(no sessions)"}
		}
		return tools.Answer(strings.Join(lines, "\n"), m), nil
	})
}

// ProcSessionOf is a session as `proc_list` shows it.
func ProcSessionOf(info *procsess.Info) ProcSession {
	until := info.Ended
	if until.IsZero() {
		until = time.Now()
	}
	ports := info.Ports
	if ports == nil {
		ports = []int{}
	}
	return ProcSession{
		ID: info.ID, Name: info.Name, Command: info.Command, State: string(info.State), Input: procInput(info.Input), PID: info.PID,
		PTY: info.PTY, Durable: info.Durable, Owner: info.Owner, StartedAt: info.Started.UTC().Format(time.RFC3339Nano),
		AgeSeconds: int64(until.Sub(info.Started).Seconds()), Cursor: info.Cursor, Ports: ports, Degraded: info.Degraded, Exit: procExit(info.Exit),
	}
}

func (s *ProcSession) line() string {
	text := s.ID
	if s.Name != "" {
		text += " " + s.Name
	}
	text += fmt.Sprintf(": %s, %d s, output %d bytes", stateWords(procsess.State(s.State), s.Exit), s.AgeSeconds, s.Cursor)
	if words := s.Input.words(); words != "" {
		text += ", " + words
	}
	for _, port := range s.Ports {
		text += fmt.Sprintf(", port %d", port)
	}
	if s.Degraded != "" {
		text += ", " + s.Degraded
	}
	return text + ": " + clipRunes(strings.ReplaceAll(s.Command, "\n", " "), 200)
}
