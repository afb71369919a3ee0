package builtin

import (
	"bytes"
	"encoding/binary"
	"io"
)

// headBytes is how much of a file's start decides what it is.
const headBytes = 8 << 10

// imageType returns the MIME type of an image by its magic bytes, or "". A name
// or an extension never decides. Animated PNG and JPEG-LS are left out, because
// models that take PNG and JPEG do not take those.
func imageType(head []byte, file io.ReaderAt) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		if stillPNG(head, file) {
			return "image/png"
		}
	case bytes.HasPrefix(head, []byte{0xff, 0xd8, 0xff}):
		if !losslessJPEG(file) {
			return "image/jpeg"
		}
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) >= 16 && bytes.HasPrefix(head, []byte("RIFF")) && string(head[8:12]) == "WEBP":
		return "image/webp"
	case bytes.HasPrefix(head, []byte("BM")) && saneBMP(head):
		return "image/bmp"
	}
	return ""
}

// maxChunks bounds the walk over a file's sections, whatever the file claims.
const maxChunks = 1000

// stillPNG reports whether IHDR comes first, as PNG §5.6 asks, and no acTL
// chunk comes before the image data, which is what makes an APNG.
func stillPNG(head []byte, file io.ReaderAt) bool {
	if len(head) < 33 || string(head[12:16]) != "IHDR" || binary.BigEndian.Uint32(head[8:]) != 13 {
		return false
	}
	var header [8]byte
	at := int64(8)
	for range maxChunks {
		if _, err := file.ReadAt(header[:], at); err != nil {
			return true
		}
		switch string(header[4:]) {
		case "acTL":
			return false
		case "IDAT", "IEND":
			return true
		}
		at += 12 + int64(binary.BigEndian.Uint32(header[:])) // length, type, data, checksum
	}
	return true
}

// losslessJPEG reports whether the frame header is JPEG-LS's SOF55 (ITU-T T.87
// §C.1.1). Segments are walked up to the frame or the scan, whichever is first.
func losslessJPEG(file io.ReaderAt) bool {
	var header [4]byte
	at := int64(2)
	for range maxChunks {
		if _, err := file.ReadAt(header[:], at); err != nil || header[0] != 0xff {
			return false
		}
		switch marker := header[1]; {
		case marker == 0xf7:
			return true
		case marker == 0xff: // fill byte
			at++
			continue
		case marker == 0xda, marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			return false
		}
		at += 2 + int64(binary.BigEndian.Uint16(header[2:]))
	}
	return false
}

// saneBMP checks the fields that tell a bitmap from text that starts with "BM":
// a known size of the second header, one plane, a possible depth, and pixels
// that start behind the headers.
func saneBMP(head []byte) bool {
	if len(head) < 30 {
		return false
	}
	size := binary.LittleEndian.Uint32(head[14:])
	planes, depth := head[26:], head[28:]
	switch size {
	case 12:
		planes, depth = head[22:], head[24:]
	case 16, 40, 52, 56, 64, 108, 124:
	default:
		return false
	}
	if pixels := binary.LittleEndian.Uint32(head[10:]); pixels < 14+size {
		return false
	}
	switch binary.LittleEndian.Uint16(depth) {
	case 0, 1, 2, 4, 8, 16, 24, 32:
		return binary.LittleEndian.Uint16(planes) == 1
	}
	return false
}
