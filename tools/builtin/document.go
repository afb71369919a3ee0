package builtin

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// DocumentFormat is a kind of document by its magic bytes.
type DocumentFormat string

// The formats that a DocumentReader is asked for.
const (
	DocumentPDF  DocumentFormat = "pdf"
	DocumentDOCX DocumentFormat = "docx"
)

// Document is a document's bytes and how much may be made of them.
type Document struct {
	Format   DocumentFormat
	Data     io.ReaderAt
	Size     int64
	MaxPages int64
	MaxText  int64 // bytes
}

// DocumentText is what a document says.
type DocumentText struct {
	Text  string
	Pages int
	// TruncatedBy is "pages" or "text" when the document says more.
	TruncatedBy string
}

// DocumentReader takes the text out of documents. It fetches nothing and
// executes nothing that a document names, and keeps the bounds it is given.
type DocumentReader interface {
	ReadDocument(ctx context.Context, document Document) (*DocumentText, error)
}

// DocumentInfo describes a document that was read.
type DocumentInfo struct {
	Format      DocumentFormat `json:"format"`
	Pages       int            `json:"pages"`
	TruncatedBy string         `json:"truncatedBy,omitempty"`
}

// documentFormat tells a document by its bytes: a PDF by its header (ISO 32000-1
// §7.5.2), a DOCX by the part that every one has (ECMA-376 part 1 §11.3.10).
func documentFormat(head []byte, file io.ReaderAt, size int64) DocumentFormat {
	if bytes.HasPrefix(head, []byte("%PDF-")) {
		return DocumentPDF
	}
	if !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return ""
	}
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return ""
	}
	for _, part := range archive.File {
		if part.Name == "word/document.xml" {
			return DocumentDOCX
		}
	}
	return ""
}

// showDocument returns nothing when the file is no document, or nobody reads
// documents here.
func (t *readTool) showDocument(ctx context.Context, in readInput, at target, file File, head []byte) (*tools.Outcome[ReadMetadata], error) {
	if t.Documents == nil || file.Size() > t.MaxDocumentBytes && !bytes.HasPrefix(head, []byte("%PDF-")) {
		return nil, nil
	}
	format := documentFormat(head, file, file.Size())
	if format == "" {
		return nil, nil
	}
	if file.Size() > t.MaxDocumentBytes {
		return nil, tools.Errorf(tools.CodeLimit, "the document %s has %d bytes, at most %d are read", at.name, file.Size(), t.MaxDocumentBytes)
	}
	document, err := t.Documents.ReadDocument(ctx, Document{format, file, file.Size(), t.MaxDocumentPages, t.MaxDocumentText})
	if err != nil {
		return nil, tools.Errorf(tools.AsError(err).Code, "the document %s cannot be read: %w", at.name, err)
	}
	info := &DocumentInfo{format, document.Pages, document.TruncatedBy}
	if int64(len(document.Text)) > t.MaxDocumentText {
		document.Text = document.Text[:runeBoundary([]byte(document.Text), int(t.MaxDocumentText))]
		info.TruncatedBy = "text"
	}
	text := strings.ToValidUTF8(document.Text, "\uFFFD")
	outcome, err := t.showText(ctx, in, at, memoryFile{bytesAt(text)}, nil)
	if err != nil {
		return nil, err
	}
	outcome.Metadata.ScannedBytes, outcome.Metadata.SHA256, outcome.Metadata.Document = file.Size(), "", info
	return outcome, nil
}

// memoryFile is text in memory, read like a file.
type memoryFile struct{ bytesAt }

func (f memoryFile) Size() int64 { return int64(len(f.bytesAt)) }
func (memoryFile) Close() error  { return nil }
