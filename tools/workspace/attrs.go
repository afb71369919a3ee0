package workspace

import (
	"io/fs"
	"os"
)

// attrs is what a file has besides its bytes.
type attrs struct {
	Mode   fs.FileMode       `json:"mode"`
	UID    uint32            `json:"uid"`
	GID    uint32            `json:"gid"`
	XAttrs map[string][]byte `json:"xattrs,omitempty"`
}

// copyAttrs gives dst the mode, owner and extended attributes of src, as far
// as this process may.
func copyAttrs(src, dst *os.File, st *stat) error {
	return attrsOf(src, st).apply(dst)
}

// attrsOf reads the attributes of an open file; src may be nil when the file
// cannot be read, which loses its extended attributes.
func attrsOf(src *os.File, st *stat) *attrs {
	a := &attrs{Mode: st.mode & permissions, UID: st.uid, GID: st.gid}
	if src != nil {
		a.XAttrs = readXAttrs(src)
	}
	return a
}

// apply sets the attributes: owner first, because changing it clears the
// set-id bits, then the mode, then the extended attributes with the access
// control lists. An owner that may not be set is left as it is, but then the
// set-id bits must not stand for another user.
func (a *attrs) apply(dst *os.File) error {
	mode := a.Mode
	kept, err := setOwner(dst, a.UID, a.GID)
	if err != nil {
		return err
	}
	if !kept {
		mode &^= fs.ModeSetuid | fs.ModeSetgid
	}
	if err := setMode(dst, mode); err != nil {
		return err
	}
	return writeXAttrs(dst, a.XAttrs)
}
