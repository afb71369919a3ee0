package acp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

var (
	// TextBytes bounds the text that one request reads or writes. The SDK's own
	// bound of a message is 10 MiB, and JSON makes a text longer.
	TextBytes = tools.Limit{Name: "maxTextBytes", Default: 4 << 20, Hard: 8 << 20}
	// ScanBytes bounds what is gone through to find a line.
	ScanBytes = tools.Limit{Name: "maxScanBytes", Default: 64 << 20, Hard: 1 << 30}
)

// FilesOptions adjusts Files. The zero value allows everything inside the root.
type FilesOptions struct {
	// Gate decides before a file is touched.
	Gate Gate
	// MaxTextBytes and MaxScanBytes: see TextBytes and ScanBytes; 0 is the default.
	MaxTextBytes, MaxScanBytes int64
	// Changed, if not nil, hears of every file that was written, by its path
	// relative to the root. It is called before the answer is sent.
	Changed func(path string)
}

// Files answers fs/read_text_file and fs/write_text_file with the files of a
// workspace. It is safe for concurrent use.
type Files struct {
	ws   *workspace.Workspace
	opts FilesOptions
}

// NewFiles makes one; the workspace stays the caller's to close. An option
// beyond its bound is a CodeToolInput error.
func NewFiles(ws *workspace.Workspace, opts *FilesOptions) (*Files, error) {
	f := &Files{ws: ws}
	if opts != nil {
		f.opts = *opts
	}
	var err error
	if f.opts.MaxTextBytes, err = TextBytes.Option(f.opts.MaxTextBytes); err != nil {
		return nil, err
	}
	if f.opts.MaxScanBytes, err = ScanBytes.Option(f.opts.MaxScanBytes); err != nil {
		return nil, err
	}
	f.opts.Gate.Root = ws.Root()
	return f, nil
}

// ReadTextFile answers fs/read_text_file: the lines as they stand in the file,
// line ends included, from line (1-based) on. A line beyond the end is
// ERR_PRISM_OUT_OF_RANGE, a file that is not UTF-8 text ERR_PRISM_BINARY, more
// than TextBytes without a limit ERR_PRISM_LIMIT.
func (f *Files) ReadTextFile(ctx context.Context, params protocol.ReadTextFileRequest) (protocol.ReadTextFileResponse, error) {
	text, err := f.read(ctx, &params)
	return protocol.ReadTextFileResponse{Content: text}, told(err)
}

// WriteTextFile answers fs/write_text_file: the content becomes all that is in
// the file, which is made, with the directories on the way, where it is missing.
func (f *Files) WriteTextFile(ctx context.Context, params protocol.WriteTextFileRequest) (protocol.WriteTextFileResponse, error) {
	return protocol.WriteTextFileResponse{}, told(f.write(ctx, &params))
}

// path resolves what the protocol says is an absolute path.
func (f *Files) path(given string) (workspace.Path, error) {
	if !filepath.IsAbs(given) {
		return workspace.Path{}, tools.Errorf(tools.CodeToolInput, "path %q must be absolute", given)
	}
	return f.ws.Resolve(given)
}

func (f *Files) read(ctx context.Context, params *protocol.ReadTextFileRequest) (string, error) {
	first, count := 1, 0
	if params.Line != nil {
		first = max(*params.Line, 1) // the schema allows 0, and counts from 1
	}
	if params.Limit != nil {
		if count = *params.Limit; count <= 0 {
			return "", tools.Errorf(tools.CodeToolInput, "limit is %d, must be at least 1", count)
		}
	}
	p, err := f.path(params.Path)
	if err != nil {
		return "", err
	}
	action := tools.Action{Kind: tools.KindRead, Operation: protocol.ClientMethodFsReadTextFile, Mutation: tools.MutatesNothing, Risk: tools.RiskLow}
	if err := f.pass(ctx, action, p, params.SessionId); err != nil {
		return "", err
	}
	pinned := pin(p)
	file, info, err := f.ws.OpenFile(pinned)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if now, err := f.ws.Resolve("./" + p.Real); !p.ReadOnly() && (err != nil || now.Real != p.Real) {
		return "", tools.Errorf(tools.CodeFileChanged, "%s was replaced while it was opened; try again", p.Rel)
	}
	return lines{ctx: ctx, name: p.Rel, size: info.Size(), most: f.opts.MaxTextBytes, scan: f.opts.MaxScanBytes}.read(file, first, count)
}

func (f *Files) write(ctx context.Context, params *protocol.WriteTextFileRequest) error {
	if size := int64(len(params.Content)); size > f.opts.MaxTextBytes {
		return tools.Errorf(tools.CodeToolInput, "content has %d bytes, at most %d are taken", size, f.opts.MaxTextBytes)
	}
	p, err := f.path(params.Path)
	switch {
	case err != nil:
		return err
	case p.ReadOnly():
		return tools.Errorf(tools.CodePathEscape, "%s lies in a directory that may only be read", params.Path)
	case p.Real == "." || strings.HasSuffix(params.Path, "/"):
		return tools.Errorf(tools.CodeNotFile, "%q names a directory, must name a file", params.Path)
	}
	sum := sha256.Sum256([]byte(params.Content))
	action := tools.Action{
		Kind: tools.KindEdit, Operation: protocol.ClientMethodFsWriteTextFile, Mutation: tools.MutatesLocally,
		Risk: tools.RiskLow, Content: hex.EncodeToString(sum[:]),
	}
	if err := f.pass(ctx, action, p, params.SessionId); err != nil {
		return err
	}
	pinned := pin(p)
	_, err = f.ws.Transact(ctx, []workspace.Path{pinned}, func(tx *workspace.Tx) error {
		return tx.Write(pinned, []byte(params.Content), &workspace.WriteOptions{CreateParents: true})
	})
	if err == nil && f.opts.Changed != nil {
		f.opts.Changed(p.Real)
	}
	return err
}

// pass puts an action on p before the gate. A policy sees where the path leads,
// and every name that alone makes a file special.
func (f *Files) pass(ctx context.Context, action tools.Action, p workspace.Path, session protocol.SessionId) error {
	switch {
	case p.ReadOnly():
		action.Paths = []string{f.ws.Abs(p)}
	default:
		action.Paths = []string{p.Real}
		if p.Rel != p.Real && (tools.IsControlPath(p.Rel) || tools.IsSecretPath(p.Rel)) {
			action.Paths = append(action.Paths, p.Rel)
		}
	}
	if action.Mutation != tools.MutatesNothing {
		for _, name := range f.ws.ControlNames(p) {
			if !slices.Contains(action.Paths, name) {
				action.Paths = append(action.Paths, name)
			}
		}
	}
	action.Owner, action.Session = owner(session), string(session)
	return f.opts.Gate.pass(ctx, action)
}

// pin is where p leads now: nobody can point it elsewhere between the gate's
// word and the act.
func pin(p workspace.Path) workspace.Path {
	if p.ReadOnly() {
		return p
	}
	return workspace.Path{Rel: p.Real, Real: p.Real}
}

// owner is to whom a session's files and terminals belong.
func owner(session protocol.SessionId) string { return "acp:" + string(session) }
