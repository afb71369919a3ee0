package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
)

// witnessBytes is the largest file that is read for the sake of a witness. What is
// larger has no hash in it, unless the transaction knows it anyway, and what became
// of it is for a person to say.
const witnessBytes = 64 << 20

// The file types of stat(2), which Linux, macOS and the BSDs number alike.
const (
	typeFIFO    = 0o010000
	typeChar    = 0o020000
	typeDir     = 0o040000
	typeBlock   = 0o060000
	typeRegular = 0o100000
	typeLink    = 0o120000
	typeSocket  = 0o140000
)

// statMode is mode as stat(2) has it.
func statMode(mode fs.FileMode) uint32 {
	raw := uint32(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		raw |= 0o4000
	}
	if mode&fs.ModeSetgid != 0 {
		raw |= 0o2000
	}
	if mode&fs.ModeSticky != 0 {
		raw |= 0o1000
	}
	switch mode.Type() {
	case fs.ModeDir:
		return raw | typeDir
	case fs.ModeSymlink:
		return raw | typeLink
	case fs.ModeNamedPipe:
		return raw | typeFIFO
	case fs.ModeSocket:
		return raw | typeSocket
	case fs.ModeDevice:
		return raw | typeBlock
	case fs.ModeDevice | fs.ModeCharDevice:
		return raw | typeChar
	}
	return raw | typeRegular
}

// Look returns what is at the path of a [tools.Witness] now. An error is that it
// cannot be told, also where a directory on the way has become a link since.
func (w *Workspace) Look(ctx context.Context, real string) (tools.Seen, error) {
	if err := ctx.Err(); err != nil {
		return tools.Seen{}, err
	}
	s, err := w.locate(Path{Rel: real}, false)
	if errors.Is(err, tools.CodeNotFound) {
		return tools.Seen{}, nil
	}
	if err != nil {
		return tools.Seen{}, err
	}
	defer s.close()
	if s.real != real {
		return tools.Seen{}, tools.Errorf(tools.CodeFileChanged, "%s leads to %s by now", real, s.real)
	}
	if !s.exists {
		return tools.Seen{}, nil
	}
	seen, err := look(s.parent, s.name, nil)
	return seen, pathError(real, err)
}

// look describes the entry name of d. known is what the transaction knows of it, and
// saves reading it again.
func look(d *dir, name string, known *ident) (tools.Seen, error) {
	st, err := d.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return tools.Seen{}, nil
	}
	if err != nil {
		return tools.Seen{}, err
	}
	seen := tools.Seen{Exists: true, Mode: statMode(st.mode)}
	switch {
	case st.mode&fs.ModeSymlink != 0:
		target, err := d.readlink(name)
		if err != nil {
			return tools.Seen{}, err
		}
		sum := sha256.Sum256([]byte(target))
		seen.SHA256 = hex.EncodeToString(sum[:])
	case !st.mode.IsRegular():
	case known.proves(&st):
		seen.SHA256 = known.SHA256
	case st.size <= witnessBytes:
		seen.SHA256, err = hashFile(d, name)
		if errors.Is(err, fs.ErrPermission) {
			err = nil // a file that may be replaced or deleted, but not read
		}
	}
	return seen, err
}

// proves reports whether the hash of i is still the hash of what st describes.
func (i *ident) proves(st *stat) bool {
	return i != nil && !i.Any && i.SHA256 != "" && i.matches(st) && i.CTime == st.ctime && !i.doubtful()
}

// announce tells whoever keeps account what the steps are about to change. All new
// content is under its temporary name by then, and no target has been touched.
func (r *run) announce(tx *Tx) error {
	if !tools.PlannedWanted(tx.ctx) || r.onlyDirs() {
		return nil
	}
	v := &view{r: r, before: map[string]tools.Seen{}, after: map[string]tools.Seen{}, aside: map[string]bool{}}
	for _, s := range r.steps {
		if err := v.take(s); err != nil {
			return pathError(s.node.real, err)
		}
	}
	list := make([]tools.Witness, 0, len(v.order))
	for _, real := range v.order {
		list = append(list, tools.Witness{Path: real, Aside: v.aside[real], Before: v.before[real], After: v.after[real]})
	}
	return tools.Planned(tx.ctx, list)
}

// announceDirs is announce for a transaction that only makes directories, which is
// told of them before it does. The mode they will get is the system's to say.
func (r *run) announceDirs(tx *Tx) error {
	if !tools.PlannedWanted(tx.ctx) || !r.onlyDirs() {
		return nil
	}
	var list []tools.Witness
	for _, s := range r.steps {
		list = append(list, tools.Witness{Path: s.node.real, After: tools.Seen{Exists: true, Mode: typeDir}})
	}
	return tools.Planned(tx.ctx, list)
}

func (r *run) onlyDirs() bool {
	return !slices.ContainsFunc(r.steps, func(s *step) bool { return s.Kind != kindMkdir })
}

// view is what the steps make of the disk, worked out before they are taken.
type view struct {
	r             *run
	before, after map[string]tools.Seen // by real path
	aside         map[string]bool
	order         []string
}

// see looks at a path that no step before has touched.
func (v *view) see(n *node, known *ident) error {
	if _, seen := v.before[n.real]; seen {
		return nil
	}
	seen, err := look(v.r.dirs[n.dirReal()], n.name, known)
	if err != nil {
		return err
	}
	v.before[n.real], v.after[n.real] = seen, seen
	v.order = append(v.order, n.real)
	return nil
}

func (v *view) take(s *step) error {
	if err := v.see(s.node, s.Old); err != nil {
		return err
	}
	if s.to != nil {
		if err := v.see(s.to, s.OldTo); err != nil {
			return err
		}
	}
	switch s.Kind {
	case kindMkdir:
		// It stays if somebody else uses it by the time that the rest is taken back.
		v.aside[s.node.real] = true
		if s.done { // the directory is there, and is taken back with the rest
			v.before[s.node.real] = tools.Seen{}
		}
	case kindDelete:
		v.after[s.node.real] = tools.Seen{}
	case kindMove:
		v.after[s.to.real] = v.after[s.node.real]
		v.after[s.node.real] = tools.Seen{}
	case kindPut:
		return v.put(s)
	}
	return nil
}

// put describes the new content, which is under its temporary name still.
func (v *view) put(s *step) error {
	d := v.r.dir(s.Dir)
	st, err := d.stat(string(s.Temp))
	if err != nil {
		return err
	}
	if s.source != nil || !st.mode.IsRegular() {
		v.after[s.node.real], err = look(d, string(s.Temp), nil)
		return err
	}
	v.after[s.node.real] = tools.Seen{Exists: true, Mode: statMode(st.mode), SHA256: s.New.SHA256}
	return nil
}
