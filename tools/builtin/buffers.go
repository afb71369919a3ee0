package builtin

import (
	"context"
	"errors"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// TextClient is an editor that holds files as text, as the Agent Client
// Protocol's fs/read_text_file and fs/write_text_file do. Paths are absolute.
type TextClient interface {
	// ReadTextFile returns CodeNotFound when the editor knows no such file.
	ReadTextFile(ctx context.Context, path string) (string, error)
	WriteTextFile(ctx context.Context, path, content string) error
}

// Buffers puts an editor's buffers behind `read`, `write` and `edit`: give it
// as the Operations of all three. It never falls back to the disk, knows no
// images, and makes no directories. The editor has no transactions: an edit of
// several files is refused, and there is no undo id, since the editor has its
// own undo.
func Buffers(client TextClient, ws *workspace.Workspace) interface {
	ReadOperations
	WriteOperations
	EditOperations
} {
	return &buffers{client, ws}
}

type buffers struct {
	client TextClient
	ws     *workspace.Workspace
}

func (b *buffers) Open(ctx context.Context, p workspace.Path) (File, error) {
	text, err := b.client.ReadTextFile(ctx, b.ws.Abs(p))
	if err != nil {
		return nil, err
	}
	return memoryFile{bytesAt(text)}, nil
}

func (b *buffers) Exists(ctx context.Context, p workspace.Path) (bool, error) {
	_, err := b.client.ReadTextFile(ctx, b.ws.Abs(p))
	if errors.Is(err, tools.CodeNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (b *buffers) Write(ctx context.Context, p workspace.Path, data []byte, opts *workspace.WriteOptions) (*workspace.Committed, error) {
	if opts.ExpectSHA256 != "" || opts.MustNotExist {
		text, err := b.client.ReadTextFile(ctx, b.ws.Abs(p))
		switch {
		case err == nil && opts.MustNotExist:
			return nil, tools.Errorf(tools.CodeExists, "%s is there already", p.Rel)
		case err != nil && !(opts.MustNotExist && errors.Is(err, tools.CodeNotFound)):
			return nil, err
		case opts.ExpectSHA256 != "" && hexHash([]byte(text)) != opts.ExpectSHA256:
			return nil, tools.Errorf(tools.CodeFileChanged, "%s has the SHA-256 %s, not the expected one", p.Rel, hexHash([]byte(text)))
		}
	}
	if err := tools.Unwitnessed(ctx); err != nil { // the editor's text is not to be seen from here
		return nil, err
	}
	if err := b.client.WriteTextFile(ctx, b.ws.Abs(p), string(data)); err != nil {
		return nil, err
	}
	return &workspace.Committed{Files: []string{p.Real}}, nil
}

func (b *buffers) Edit(ctx context.Context, paths []workspace.Path, most int64, change func([]*workspace.Content) ([]Replacement, error)) (*workspace.Committed, error) {
	if len(paths) > 1 {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "an editor's buffers cannot be changed all or none; edit one file at a time")
	}
	text, err := b.client.ReadTextFile(ctx, b.ws.Abs(paths[0]))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, tools.Errorf(tools.CodeLimit, "%s has %d bytes, at most %d can be edited", paths[0].Rel, len(text), most)
	}
	replacements, err := change([]*workspace.Content{{Path: paths[0], Data: []byte(text), SHA256: hexHash([]byte(text))}})
	if err != nil || len(replacements) == 0 {
		return nil, err
	}
	return b.Write(ctx, paths[0], replacements[0].Data, &replacements[0].Options)
}
