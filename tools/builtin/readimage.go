package builtin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/prism-ls/prism-ls/tools"
)

// TransformImage makes an image fit for showing, smaller or in another format.
// The result's own first bytes decide its type.
type TransformImage func(ctx context.Context, data []byte, mimeType string) ([]byte, error)

// ImageMetadata describes a shown image.
type ImageMetadata struct {
	MIMEType string `json:"mimeType"`
	// Resized: a TransformImage has been at work.
	Resized bool `json:"resized"`
	Bytes   int  `json:"bytes"`
}

func (t *readTool) showImage(ctx context.Context, at target, file File, kind string) (*tools.Outcome[ReadMetadata], error) {
	data, err := readWhole(ctx, file, at.name, "image", t.MaxImageBytes)
	if err != nil {
		return nil, err
	}
	scanned := int64(len(data))
	info := &ImageMetadata{MIMEType: kind}
	if t.TransformImage != nil {
		if data, err = t.TransformImage(ctx, data, kind); err != nil {
			return nil, tools.Errorf(tools.AsError(err).Code, "the image %s could not be made fit for showing: %w", at.name, err)
		}
		if int64(len(data)) > t.MaxImageBytes {
			return nil, tools.Errorf(tools.CodeLimit, "the transformed image has %d bytes, at most %d are shown", len(data), t.MaxImageBytes)
		}
		info.Resized = true
		if info.MIMEType = imageType(data[:min(len(data), headBytes)], bytesAt(data)); info.MIMEType == "" {
			return nil, tools.Errorf(tools.CodeInternal, "the transformation of %s did not give an image", at.name)
		}
	}
	info.Bytes = len(data)
	return &tools.Outcome[ReadMetadata]{
		Content:  []tools.Block{tools.Text(fmt.Sprintf("Image %s (%s, %d bytes)", at.name, info.MIMEType, info.Bytes)), tools.Image(info.MIMEType, data)},
		Metadata: ReadMetadata{ScannedBytes: scanned, Image: info},
	}, nil
}

// readWhole reads a file of at most most bytes.
func readWhole(ctx context.Context, file File, name, what string, most int64) ([]byte, error) {
	if file.Size() > most {
		return nil, tools.Errorf(tools.CodeLimit, "the %s %s has %d bytes, at most %d are read", what, name, file.Size(), most)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data := make([]byte, 0, file.Size()+1)
	for {
		if int64(len(data)) > most {
			return nil, tools.Errorf(tools.CodeLimit, "the %s %s grew over %d bytes while it was read", what, name, most)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := file.ReadAt(data[len(data):cap(data)], int64(len(data)))
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, tools.Errorf(tools.AsError(err).Code, "%s cannot be read: %w", name, err)
		}
	}
}

// bytesAt reads bytes in memory like a file.
type bytesAt []byte

func (b bytesAt) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(b)) {
		return 0, io.EOF
	}
	n := copy(p, b[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
