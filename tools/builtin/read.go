package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// ReadOptions adjusts `read`. The zero value reads local text and images.
type ReadOptions struct {
	// Operations open the files; nil means those of the workspace.
	Operations ReadOperations
	// MaxLines, MaxBytes, MaxScanBytes, MaxImageBytes: see PageLines and so on.
	MaxLines, MaxBytes, MaxScanBytes, MaxImageBytes int64
	// Dependencies, if not nil, knows the "dep:" paths that results have named:
	// regular files outside of the workspace, for reading alone. A language
	// client's Dependency is one.
	Dependencies func(path string) (absolute string, ok bool)
	// TransformImage, if not nil, may make an image smaller before it is shown.
	TransformImage TransformImage
	// Documents, if not nil, turns PDF and DOCX files into text.
	Documents DocumentReader
	// MaxDocumentBytes, MaxDocumentPages, MaxDocumentText: see DocumentBytes and so on.
	MaxDocumentBytes, MaxDocumentPages, MaxDocumentText int64
}

// ReadRange is one page of several.
type ReadRange struct {
	Offset int64  `json:"offset"`
	Limit  *int64 `json:"limit,omitempty"`
}

type readInput struct {
	Path        string      `json:"path" check:"nonempty"`
	Offset      *int64      `json:"offset,omitempty" jsonschema:"first line, from 1"`
	Limit       *int64      `json:"limit,omitempty" jsonschema:"number of lines"`
	ByteOffset  *int64      `json:"byteOffset,omitempty" jsonschema:"start within the first line"`
	FindText    *string     `json:"findText,omitempty" check:"nonempty" jsonschema:"start at the first line from offset on that holds this literal text"`
	FindMode    findMode    `json:"findMode,omitempty"`
	LineNumbers bool        `json:"lineNumbers,omitempty"`
	Ranges      []ReadRange `json:"ranges,omitempty" check:"nonempty" jsonschema:"several pages in one call, instead of offset and limit"`
}

// ReadMetadata describes what was read.
type ReadMetadata struct {
	Path         string         `json:"path,omitempty"`
	Truncation   *Truncation    `json:"truncation,omitempty"`
	Ranges       []Truncation   `json:"ranges,omitempty"`
	ScannedBytes int64          `json:"scannedBytes"`
	SHA256       string         `json:"sha256,omitempty"`
	Encoding     string         `json:"encoding,omitempty"`
	BOM          bool           `json:"bom,omitempty"`
	Image        *ImageMetadata `json:"image,omitempty"`
	Document     *DocumentInfo  `json:"document,omitempty"`
}

type readTool struct {
	ReadOptions
	ws   *workspace.Workspace
	seen *ReadPathSet
}

func newRead(d *Deps) (*tools.Tool, error) {
	t := &readTool{ReadOptions: d.Read, ws: d.Workspace, seen: d.ReadPaths}
	if t.Operations == nil {
		t.Operations = localFiles{d.Workspace}
	}
	err := settle(bound{&t.MaxLines, PageLines}, bound{&t.MaxBytes, PageBytes}, bound{&t.MaxScanBytes, ScanBytes}, bound{&t.MaxImageBytes, ImageBytes},
		bound{&t.MaxDocumentBytes, DocumentBytes}, bound{&t.MaxDocumentPages, DocumentPages}, bound{&t.MaxDocumentText, DocumentTextBytes})
	if err != nil {
		return nil, err
	}
	spec := tools.Spec{
		Name: "read", Title: "Read file", Toolset: "core", Kind: tools.KindRead, Effect: tools.Observes,
		Description: "Read a text file, a page at a time, or show an image. A footer says how to continue.",
		Limits:      []tools.Limit{lineNumber, lineCount, byteNumber, rangeCount},
	}
	return tools.New(spec, t.plan, t.run)
}

func (t *readTool) plan(_ context.Context, _ *tools.Call, in readInput) (tools.Action, error) {
	if err := in.check(); err != nil {
		return tools.Action{}, err
	}
	at, err := t.target(in.Path)
	return tools.Action{Paths: paths(at)}, err
}

func (in *readInput) check() error {
	one := in.Offset != nil || in.Limit != nil || in.ByteOffset != nil || in.FindText != nil
	switch {
	case in.Ranges != nil && one:
		return tools.Errorf(tools.CodeToolInput, "ranges stands alone: offset, limit, byteOffset and findText belong to a single page")
	case in.FindText != nil && in.ByteOffset != nil:
		return tools.Errorf(tools.CodeToolInput, "byteOffset and findText contradict each other: both say where the page starts")
	case in.FindMode != "" && in.FindText == nil:
		return tools.Errorf(tools.CodeToolInput, "findMode needs findText")
	case in.FindText != nil && int64(len(*in.FindText)) > findBytes.Hard:
		return tools.Errorf(tools.CodeToolInput, "findText has %d bytes, at most %d are taken", len(*in.FindText), findBytes.Hard)
	}
	return nil
}

// target finds the file, for a name that is not there also in the spellings
// that macOS may have given it. The path as given always comes first.
func (t *readTool) target(given string) (target, error) {
	if at, ok, err := t.dependency(given); ok {
		return at, err
	}
	first, err := follow(t.ws, given)
	if err != nil {
		return first, err
	}
	if _, err := t.ws.Stat(first.at); !errors.Is(err, tools.CodeNotFound) {
		return first, nil
	}
	for _, variant := range macVariants(given) {
		other, err := follow(t.ws, variant)
		if err != nil {
			continue
		}
		if info, err := t.ws.Stat(other.at); err == nil && info.Mode().IsRegular() {
			return other, nil
		}
	}
	return first, nil
}

func (t *readTool) run(ctx context.Context, call *tools.Call, in readInput) (*tools.Outcome[ReadMetadata], error) {
	at, err := t.target(in.Path)
	if err != nil {
		return nil, err
	}
	if err := unmoved(call, 0, at); err != nil {
		return nil, err
	}
	file, err := t.open(ctx, at)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	outcome, err := t.show(ctx, in, at, file)
	if err != nil {
		return nil, err
	}
	if outcome.Metadata.Path = at.outside; at.outside == "" {
		outcome.Metadata.Path = t.ws.Abs(at.at)
	}
	t.seen.mark(call, at.policy)
	return outcome, nil
}

func (t *readTool) open(ctx context.Context, at target) (File, error) {
	if at.outside != "" {
		return openDependency(at)
	}
	return t.Operations.Open(ctx, at.at)
}

// show decides by the file's first bytes what it is.
func (t *readTool) show(ctx context.Context, in readInput, at target, file File) (*tools.Outcome[ReadMetadata], error) {
	head := make([]byte, min(max(file.Size(), 512), headBytes))
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, tools.Errorf(tools.AsError(err).Code, "%s cannot be read: %w", at.name, err)
	}
	head = head[:n]
	if kind := imageType(head, file); kind != "" {
		return t.showImage(ctx, at, file, kind)
	}
	if outcome, err := t.showDocument(ctx, in, at, file, head); outcome != nil || err != nil {
		return outcome, err
	}
	return t.showText(ctx, in, at, file, head)
}

func (t *readTool) showText(ctx context.Context, in readInput, at target, file File, head []byte) (*tools.Outcome[ReadMetadata], error) {
	s := &scan{most: t.MaxScanBytes, left: t.MaxScanBytes, hash: sha256.New()}
	text, err := openText(ctx, at.name, file, head, s)
	if err != nil {
		return nil, err
	}
	v := &view{text: text, window: t.window(in), size: file.Size(), metadata: ReadMetadata{Encoding: text.encoding, BOM: text.bom > 0}}
	var blocks []tools.Block
	if in.Ranges != nil {
		blocks, err = v.several(ctx, in.Ranges)
	} else {
		blocks, err = v.single(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	if v.metadata.ScannedBytes = v.searched; v.searched == 0 {
		v.metadata.ScannedBytes = s.most - s.left
	}
	return &tools.Outcome[ReadMetadata]{Content: blocks, Metadata: v.metadata}, nil
}

func (t *readTool) window(in readInput) window {
	w := window{field: "offset", offset: 1, byteOffset: in.ByteOffset, maxLines: t.MaxLines, maxBytes: t.MaxBytes, numbers: in.LineNumbers, ahead: lookAhead}
	if in.Offset != nil {
		w.offset = *in.Offset
	}
	if in.Limit != nil {
		w.limit = *in.Limit
	}
	return w
}

// hexHash is how a SHA-256 is written everywhere.
func hexHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
