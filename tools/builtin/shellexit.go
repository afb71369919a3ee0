package builtin

import (
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// ShellMetadata describes a finished command.
type ShellMetadata struct {
	// ExitCode is nil when a signal, a timeout or the caller ended the command.
	ExitCode *int   `json:"exitCode"`
	Signal   string `json:"signal,omitempty"`
	// ShellCode is how a shell shows a signal: 128 and its number.
	ShellCode           int                 `json:"shellCode,omitempty"`
	Truncation          Truncation          `json:"truncation"`
	TotalOutputBytes    int64               `json:"totalOutputBytes"`
	FullOutputPath      string              `json:"fullOutputPath,omitempty"`
	OutputLimitExceeded bool                `json:"outputLimitExceeded,omitempty"`
	OutputStorageFailed bool                `json:"outputStorageFailed,omitempty"`
	Detached            []ShellProcess      `json:"detached,omitempty"`
	Survivors           []ShellProcess      `json:"survivors,omitempty"`
	Sandbox             *child.Capabilities `json:"sandbox,omitempty"`
}

// ShellProcess is a process that a command left behind.
type ShellProcess struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

// describe makes the result of a command. One that failed keeps no spill.
func describe(exit *ShellExit, out *output, failed bool) *tools.Outcome[ShellMetadata] {
	text, truncation := out.render()
	m := ShellMetadata{
		Truncation: truncation, TotalOutputBytes: out.total, OutputLimitExceeded: out.exceeded, OutputStorageFailed: out.storage != nil,
		Detached: processes(exit.Detached), Survivors: processes(exit.Survivors), Sandbox: exit.Sandbox,
	}
	if text == "" {
		text = "(no output)"
	}
	notice := func(format string, args ...any) { text = withNotice(text, fmt.Sprintf(format, args...)) }
	if truncation.Truncated {
		notice("[truncated by %s]", truncation.TruncatedBy)
	}
	if !failed {
		if m.FullOutputPath = out.keep(truncation.Truncated); m.FullOutputPath != "" {
			notice("[Full output: %s]", m.FullOutputPath)
		}
		m.OutputStorageFailed = out.storage != nil
		switch {
		case exit.Signal != "":
			m.Signal, m.ShellCode = exit.Signal, 128+exit.SignalNumber
			notice("[Command killed by %s]", exit.Signal)
		default:
			m.ExitCode = &exit.Code
			if exit.Code != 0 {
				notice("[Command exited with code %d]", exit.Code)
			}
		}
	}
	if len(m.Detached) > 0 {
		notice("[Killed with the command's end, since only proc_start keeps processes running: %s]", list(m.Detached))
	}
	if len(m.Survivors) > 0 {
		notice("[Could not be killed: %s]", list(m.Survivors))
	}
	return tools.Answer(text, m)
}

// processes names them in words that can stand in a text.
func processes(infos []child.Info) []ShellProcess {
	var list []ShellProcess
	for _, info := range infos {
		list = append(list, ShellProcess{info.PID, plainText(info.Command)})
	}
	return list
}

// maxNamed bounds how many processes the text names; metadata has all.
const maxNamed = 10

func list(processes []ShellProcess) string {
	var names []string
	for i, p := range processes {
		if i == maxNamed {
			names = append(names, fmt.Sprintf("and %d more", len(processes)-i))
			break
		}
		names = append(names, fmt.Sprintf("%s (pid %d)", strings.ReplaceAll(p.Command, "\n", " "), p.PID))
	}
	return strings.Join(names, ", ")
}
