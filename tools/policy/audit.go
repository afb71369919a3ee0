package policy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/filelock"
)

// maxEntry bounds one line of the log; a longer action is cut to its digest.
const maxEntry = 64 << 10

// lockTime bounds waiting for other writers of the log, who hold it for one line.
const lockTime = 5 * time.Second

// Phase says which half of a call an Entry tells of.
type Phase string

// The phases.
const (
	PhaseIntent  Phase = "intent"
	PhaseOutcome Phase = "outcome"
	// PhaseTorn stands after a line that a crash or full disk cut short.
	PhaseTorn Phase = "torn"
)

// Entry is one line of the audit log. Hash is the SHA-256 of the line's JSON
// without Hash, Prev the Hash of the line before. The chain shows that no line
// was changed, removed or put in between; the last lines could be cut off
// together with the count of them beside the log by whoever may write both.
type Entry struct {
	Seq    int64         `json:"seq"`
	Time   time.Time     `json:"time"`
	Phase  Phase         `json:"phase"`
	ID     string        `json:"id,omitempty"`
	Tool   string        `json:"tool,omitempty"`
	Action *tools.Action `json:"action,omitempty"`
	// Digest identifies an action that was too long to write down.
	Digest string     `json:"digest,omitempty"`
	Code   tools.Code `json:"code,omitempty"`
	Prev   string     `json:"prev"`
	Hash   string     `json:"hash,omitempty"`
}

// Audit is a log of mutating calls: JSON lines, mode 0600, one writer at a time
// across processes. It implements tools.Recorder.
type Audit struct {
	path     string
	redactor *Redactor

	mu   sync.Mutex
	file *os.File
	size int64 // of the log when last was read from it
	last Entry
}

// NewAudit logs to the file at path, whose directory is made (0700) when the
// first call is recorded. A nil redactor takes nothing out.
func NewAudit(path string, redactor *Redactor) *Audit {
	return &Audit{path: path, redactor: redactor}
}

// Close closes the log.
func (a *Audit) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file = nil
	return err
}

// Intent records what a call is about to do; urgent ones are on disk on return.
func (a *Audit) Intent(ctx context.Context, intent tools.Intent) (string, error) {
	action := a.clean(intent.Action)
	entry := Entry{Phase: PhaseIntent, ID: intent.CallID, Tool: intent.Tool, Action: &action}
	if text, err := json.Marshal(action); err != nil || len(text) > maxEntry {
		entry.Action, entry.Digest = nil, intent.Action.Digest()
	}
	return intent.CallID, a.append(ctx, entry, intent.Urgent)
}

// Outcome records how the call ended: with that code, or well when it is "".
func (a *Audit) Outcome(ctx context.Context, id string, code tools.Code) error {
	return a.append(ctx, Entry{Phase: PhaseOutcome, ID: id, Code: code}, false)
}

func (a *Audit) clean(action tools.Action) tools.Action {
	action.Env = nil // the values may be anything; the names are in the digest
	if a.redactor != nil {
		action.Command = string(a.redactor.Redact([]byte(action.Command)))
		args := make([]string, 0, len(action.Args))
		for _, arg := range action.Args {
			args = append(args, string(a.redactor.Redact([]byte(arg))))
		}
		action.Args = args
	}
	return action
}

func (a *Audit) append(ctx context.Context, entry Entry, durable bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.open(); err != nil {
		return stateError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	if err := filelock.Wait(ctx, a.file); err != nil {
		return stateError(err)
	}
	defer func() { _ = filelock.Release(a.file) }() // closing the file releases it too
	if err := a.catchUp(); err != nil {
		return stateError(err)
	}
	if err := a.write(entry, ""); err != nil {
		return stateError(err)
	}
	if durable {
		if err := a.file.Sync(); err != nil {
			return stateError(err)
		}
	}
	return nil
}

func (a *Audit) open() error {
	if a.file != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(a.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	a.file, a.size, a.last = file, -1, Entry{}
	return nil
}

// catchUp reads the last line again when another process has written, and
// closes off a line that was cut short.
func (a *Audit) catchUp() error {
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == a.size {
		return nil
	}
	last, end, err := lastEntry(a.file, info.Size())
	if err != nil {
		return err
	}
	a.size, a.last = info.Size(), last
	switch end {
	case endTorn:
		return a.write(Entry{Phase: PhaseTorn}, "\n")
	case endBare:
		if _, err := a.file.WriteString("\n"); err != nil {
			a.size = -1
			return err
		}
		a.size++
	}
	return nil
}

// write appends the entry's line after a prefix, which closes off a torn line.
func (a *Audit) write(entry Entry, prefix string) error {
	entry.Seq, entry.Prev, entry.Time = a.last.Seq+1, a.last.Hash, time.Now().UTC()
	line, err := seal(&entry)
	if err != nil {
		return err
	}
	n, err := a.file.WriteString(prefix + string(line) + "\n")
	if err != nil {
		a.size = -1 // read again: part of the line may be there
		return err
	}
	a.size += int64(n)
	a.last = entry
	return writeHead(a.path, entry)
}

// seal sets the entry's hash and returns its line.
func seal(entry *Entry) ([]byte, error) {
	entry.Hash = ""
	text, err := json.Marshal(entry)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	entry.Hash = hex.EncodeToString(sum[:])
	return append(text[:len(text)-1], hashMember(entry.Hash)...), nil
}

// hashMember is how a line ends: what goes before it is what was hashed.
func hashMember(hash string) string { return `,"hash":"` + hash + `"}` }

// unsealed returns the text of a line that its hash was made of.
func unsealed(line []byte, hash string) []byte {
	text, _ := bytes.CutSuffix(line, []byte(hashMember(hash)))
	return append(bytes.Clone(text), '}')
}

// ending is what comes after the last whole line of a log.
type ending int

const (
	endWhole ending = iota // nothing
	endTorn                // part of a line
	endBare                // a line that lacks only its line end
)

// lastEntry returns the last entry of the log that is all there, and how the
// log ends.
func lastEntry(file *os.File, size int64) (last Entry, how ending, err error) {
	const window = 4 * maxEntry
	start := max(0, size-window)
	tail := make([]byte, size-start)
	if _, err := file.ReadAt(tail, start); err != nil && !errors.Is(err, io.EOF) {
		return Entry{}, endWhole, err
	}
	end := bytes.LastIndexByte(tail, '\n')
	if rest := tail[end+1:]; len(rest) > 0 {
		how = endTorn
		if json.Unmarshal(rest, &last) == nil && last.Hash != "" {
			return last, endBare, nil
		}
	}
	for end >= 0 {
		begin := bytes.LastIndexByte(tail[:end], '\n')
		last = Entry{}
		if json.Unmarshal(tail[begin+1:end], &last) == nil && last.Hash != "" {
			return last, how, nil
		}
		how, end = endTorn, begin // closed off, but its mark was lost too
	}
	return Entry{}, how, nil
}

// head is the count beside the log that shows when its end is missing.
type head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

func headPath(path string) string { return path + ".head" }

func writeHead(path string, entry Entry) error {
	text, err := json.Marshal(head{entry.Seq, entry.Hash})
	if err != nil {
		return err
	}
	// By a rename, so that a crash leaves the old count or the new one. Only the
	// one who has the log's lock gets here.
	fresh := headPath(path) + ".new"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, headPath(path))
}

// Report is what [VerifyAudit] found.
type Report struct {
	Entries int64 `json:"entries"`
	// Torn counts lines that a crash cut short.
	Torn int64 `json:"torn"`
	// Open lists calls whose outcome was never recorded.
	Open []string `json:"open"`
}

// VerifyAudit reads a whole log and checks its chain. Writers
// go on meanwhile: what they add after the start is not looked at. A CodeIO error names the
// first line that does not fit.
func VerifyAudit(path string) (*Report, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, tools.AsError(err)
	}
	defer file.Close()
	size, count, err := moment(path, file)
	if err != nil {
		return nil, err
	}
	report, open, previous, line, torn := &Report{}, map[string]bool{}, Entry{}, 0, false
	scanner := bufio.NewScanner(io.LimitReader(file, size))
	scanner.Buffer(make([]byte, 64<<10), 8*maxEntry)
	for scanner.Scan() {
		line++
		var entry Entry
		if json.Unmarshal(scanner.Bytes(), &entry) != nil {
			report.Torn++
			torn = true
			continue
		}
		if err := follows(previous, entry, scanner.Bytes(), torn); err != nil {
			return nil, tools.Errorf(tools.CodeIO, "line %d of the audit log: %w", line, err)
		}
		torn = false
		previous = entry
		report.Entries++
		if entry.Phase == PhaseIntent {
			open[entry.ID] = true
			report.Open = append(report.Open, entry.ID)
		}
		if entry.Phase == PhaseOutcome {
			delete(open, entry.ID)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, tools.Errorf(tools.CodeIO, "the audit log cannot be read: %w", err)
	}
	report.Open = keep(report.Open, open)
	return report, checkHead(count, previous)
}

// moment returns the log's size and the text of the count beside it as they
// were at one moment, between the calls of any writer.
func moment(path string, file *os.File) (size int64, count []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	if err := filelock.Wait(ctx, file); err != nil {
		return 0, nil, tools.Errorf(tools.CodeIO, "the audit log cannot be locked: %w", err)
	}
	defer func() { _ = filelock.Release(file) }() // closing the file releases it too
	info, err := file.Stat()
	if err != nil {
		return 0, nil, tools.AsError(err)
	}
	if count, err = os.ReadFile(headPath(path)); err != nil {
		return 0, nil, tools.Errorf(tools.CodeIO, "the count beside the audit log cannot be read: %w", err)
	}
	return info.Size(), count, nil
}

func keep(ids []string, open map[string]bool) []string {
	kept := []string{}
	for _, id := range ids {
		if open[id] {
			kept = append(kept, id)
		}
	}
	return kept
}

// follows checks one link of the chain. A line that was cut short must be
// followed by its mark.
func follows(previous, entry Entry, line []byte, afterTorn bool) error {
	sum := sha256.Sum256(unsealed(line, entry.Hash))
	switch {
	case entry.Hash != hex.EncodeToString(sum[:]):
		return fmt.Errorf("its content does not have the hash it names")
	case entry.Seq != previous.Seq+1:
		return fmt.Errorf("number %d follows number %d", entry.Seq, previous.Seq)
	case entry.Prev != previous.Hash:
		return fmt.Errorf("it does not follow the line before it")
	case afterTorn != (entry.Phase == PhaseTorn):
		return fmt.Errorf("a line that was cut short and its mark do not stand together")
	}
	return nil
}

func checkHead(count []byte, last Entry) error {
	var want head
	if err := json.Unmarshal(count, &want); err != nil {
		return tools.Errorf(tools.CodeIO, "the count beside the audit log is damaged: %w", err)
	}
	// A crash between the line and the count leaves the log one line ahead.
	if last.Seq < want.Seq || last.Seq == want.Seq && last.Hash != want.Hash {
		return tools.Errorf(tools.CodeIO, "the audit log ends at number %d, but %d lines were written", last.Seq, want.Seq)
	}
	return nil
}
