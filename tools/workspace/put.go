package workspace

import (
	"io/fs"
	"os"

	"github.com/prism-ls/prism-ls/tools"
)

// Entry is a directory entry as version control knows it.
type Entry struct {
	// Data is a file's content, or the target of a link.
	Data []byte
	// Link makes it a symbolic link.
	Link bool
	// Executable says whether a file may be run by those who may read it.
	Executable bool
}

// Put makes the entry, replacing the file or link that is there: unlike Write it
// writes through no link. Owner, attributes and the other permissions of a file
// stay, and directories on the way are made. The data must not change before
// [Workspace.Transact] returns.
//
// Codes: NOT_FILE (a directory, or something else that is neither file nor link),
// HARDLINK, PERMISSION (a read-only file), TOOL_INPUT (the transaction has changed
// the entry before; an empty target).
func (tx *Tx) Put(p Path, entry Entry) error {
	n, err := tx.entry(p)
	if err != nil {
		return err
	}
	if err := tx.checkPut(p, n, entry); err != nil {
		return err
	}
	if err := tx.parents(n, true); err != nil {
		return err
	}
	s := &step{node: n, data: entry.Data, bytes: n.st.size, link: entry.Link}
	s.op = op{Kind: kindPut, Temp: raw(tempName()), Tomb: raw(tempName()), Old: n.id, New: &ident{Size: int64(len(entry.Data))}}
	if !entry.Link {
		s.executable = &entry.Executable
		if n.exists && n.st.mode.IsRegular() {
			s.like = n.from
		}
	}
	n.exists, n.st = true, stat{mode: 0o666, nlink: 1, size: int64(len(entry.Data))}
	if entry.Link {
		n.st.mode = fs.ModeSymlink | 0o777
	}
	n.put = tx.stage(s)
	n.id = &ident{Any: true}
	return nil
}

func (tx *Tx) checkPut(p Path, n *node, entry Entry) error {
	switch {
	case n.put != nil || n.from != n || n.id != nil && n.id.Any:
		return tools.Errorf(tools.CodeToolInput, "%s was changed by the same transaction before", p.Rel)
	case entry.Link && len(entry.Data) == 0:
		return tools.Errorf(tools.CodeToolInput, "%s cannot be a link to nothing", p.Rel)
	case n.name == "." || p.slash:
		return notRegular(p.Rel, fs.ModeDir)
	case !n.exists:
		return nil
	case n.st.mode&fs.ModeSymlink != 0:
		return nil
	case !n.st.mode.IsRegular():
		return notRegular(p.Rel, n.st.mode)
	case n.st.nlink > 1:
		return tools.Errorf(tools.CodeHardlink, "%s has %d names (hard links), and the others would keep the old content", p.Rel, n.st.nlink)
	}
	if err := n.parent.writable(n.name); err != nil {
		return pathError(p.Rel, err)
	}
	return nil
}

// setExecutable lets those run a file who may read it, or nobody. A file that its
// owner may run already, or may not, is left as it is.
func setExecutable(file *os.File, executable bool) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	mode := info.Mode() & permissions
	switch {
	case executable == (mode&0o100 != 0):
		return nil
	case executable:
		return setMode(file, mode|mode&0o444>>2)
	}
	return setMode(file, mode&^0o111)
}
