package workspace

import (
	"strconv"
)

// raw is a file name in JSON. Names are bytes; encoding/json would replace
// what is not UTF-8.
type raw string

// MarshalText writes the name as a Go string literal in ASCII.
func (r raw) MarshalText() ([]byte, error) { return []byte(strconv.QuoteToASCII(string(r))), nil }

// UnmarshalText reads what MarshalText wrote.
func (r *raw) UnmarshalText(text []byte) error {
	unquoted, err := strconv.Unquote(string(text))
	*r = raw(unquoted)
	return err
}

// kind is what a step does with its directory entry.
type kind string

const (
	// kindPut puts new content at Dir/Name, replacing Old if that is set.
	kindPut kind = "put"
	// kindDelete takes Dir/Name away.
	kindDelete kind = "delete"
	// kindMove renames Dir/Name to ToDir/ToName, replacing OldTo if that is set.
	kindMove kind = "move"
	// kindMkdir makes the directory Dir/Name.
	kindMkdir kind = "mkdir"
)

// op is one step of a transaction as journals, writer files and undo records
// hold it: enough to put things back, or to clean up, without the process that
// began it. Directories are real paths relative to the root at the time of the
// step.
type op struct {
	Kind   kind `json:"kind"`
	Dir    raw  `json:"dir"`
	Name   raw  `json:"name"`
	ToDir  raw  `json:"toDir,omitzero"`
	ToName raw  `json:"toName,omitzero"`
	// Temp has the new content before the step and, where names can be
	// exchanged, the original after it.
	Temp raw `json:"temp,omitzero"`
	// Tomb has the original after the step otherwise.
	Tomb  raw    `json:"tomb,omitzero"`
	Old   *ident `json:"old,omitzero"`
	OldTo *ident `json:"oldTo,omitzero"`
	New   *ident `json:"new,omitzero"`
	// Blob is the original's name in the undo record.
	Blob *blob `json:"blob,omitzero"`
}

// ident recognises one state of a file.
type ident struct {
	Ino    uint64 `json:"ino,omitzero"`
	Size   int64  `json:"size"`
	MTime  int64  `json:"mtime"`
	CTime  int64  `json:"ctime,omitzero"` // only before the first step touches the file
	SHA256 string `json:"sha256,omitzero"`
	Dir    bool   `json:"dir,omitzero"`
	// Any stands for "whatever is there": the step follows another one of the
	// same transaction that decided it.
	Any bool `json:"any,omitzero"`
	// Seen is when the file was read, for telling whether its times can be
	// trusted.
	Seen int64 `json:"-"`
}

func identOf(st *stat) *ident {
	return &ident{Ino: st.ino, Size: st.size, MTime: st.mtime, CTime: st.ctime, Dir: st.mode.IsDir()}
}

// matches compares inode, size and modification time. The change time is left
// out because our own renames and links set it.
func (i *ident) matches(st *stat) bool {
	if i.Any {
		return true
	}
	return i.Ino == st.ino && i.Size == st.size && i.MTime == st.mtime && i.Dir == st.mode.IsDir()
}

// sameInode is for files whose other attributes may have moved on.
func (i *ident) sameInode(st *stat) bool {
	if i.Any || i.Ino == 0 {
		return i.Any || i.Size == st.size && i.MTime == st.mtime
	}
	return i.Ino == st.ino
}

// blob is an original in the undo record.
type blob struct {
	Name string `json:"name"`
	// Digest recognises the bytes; see [digest].
	Digest string `json:"digest"`
	Attrs  *attrs `json:"attrs,omitzero"`
}
