package git

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// stderrTail is how much of git's standard error an Error keeps, in bytes.
const stderrTail = 2 << 10

// Error is a git command that ended with a non-zero status. It travels inside
// a [tools.Error] with [tools.CodeGitFailed].
type Error struct {
	// Args are the arguments as the caller gave them, without the fixed settings.
	Args []string
	// ExitCode is git's status, or -1 when a signal ended it.
	ExitCode int
	// Stderr is the end of what git said, at most 2 KiB, credentials in URLs removed.
	Stderr string
}

// Error names the command, its status and what git said last.
func (e *Error) Error() string {
	text := fmt.Sprintf("git %s: exit %d", strings.Join(e.Args, " "), e.ExitCode)
	if e.Stderr != "" {
		text += ": " + e.Stderr
	}
	return text
}

func failed(args []string, code int, stderr []byte) error {
	failure := &Error{Args: args, ExitCode: code, Stderr: tail(stderr)}
	return &tools.Error{Code: tools.CodeGitFailed, Message: failure.Error(), Err: failure}
}

func tail(stderr []byte) string {
	if over := len(stderr) - stderrTail; over > 0 {
		stderr = stderr[over:]
		for len(stderr) > 0 && !utf8.RuneStart(stderr[0]) {
			stderr = stderr[1:]
		}
	}
	text := strings.ToValidUTF8(strings.TrimSpace(string(stderr)), "\uFFFD")
	return userinfo().ReplaceAllString(text, "://")
}

// userinfo finds the user part of a URL (RFC 3986 §3.2.1). It is compiled when
// a command fails, which is rare enough.
func userinfo() *regexp.Regexp { return regexp.MustCompile(`://[^/\s@]+@`) }
