package workspace

import (
	"errors"
	"io/fs"
	"os"
)

// fillAll makes all temporary files, then flushes them: by then the disk has
// begun with the first, and the file system's own log is flushed once.
func (r *run) fillAll() error {
	for _, s := range r.steps {
		if s.Kind == kindPut {
			if err := r.fill(s); err != nil {
				return err
			}
		}
	}
	for _, s := range r.steps {
		if s.file != nil {
			err := r.dir(s.Dir).seam.before("fsync", s.file.Name())
			if err == nil {
				err = s.file.Sync()
			}
			if err != nil {
				return pathError(s.node.real, err)
			}
		}
		s.settle()
	}
	return nil
}

// settle waits for what write has begun: the hash, and the open file.
func (s *step) settle() {
	if s.sum != nil {
		s.New.SHA256 = <-s.sum
		s.sum = nil
	}
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// keepOpen is how many temporary files stay open for their flush; of more, the
// later ones are flushed one by one.
const keepOpen = 64

// fill makes the temporary file with the new content.
func (r *run) fill(s *step) error {
	d, temp := r.dir(s.Dir), string(s.Temp)
	var err error
	if s.source != nil {
		err = s.source.put(d, temp)
	} else if s.link {
		err = d.symlink(string(s.data), temp)
	} else {
		err = r.write(s, d, temp)
	}
	if err != nil {
		return pathError(s.node.real, err)
	}
	st, err := d.stat(temp)
	if err != nil {
		return pathError(s.node.real, err)
	}
	s.New.Ino, s.New.Size, s.New.MTime, s.New.Dir = st.ino, st.size, st.mtime, st.mode.IsDir()
	if r.slot != nil {
		// Which file is ours: only for telling a stranger's from it after a crash.
		_ = r.slot.write(&s.op)
	}
	return nil
}

func (r *run) write(s *step, d *dir, temp string) error {
	perm := uint32(0o666)
	if s.like != nil {
		perm = 0o600
	}
	file, err := d.create(temp, perm)
	if err != nil {
		return err
	}
	if r.open < keepOpen {
		r.open++
		s.file = file
	} else {
		defer file.Close()
	}
	if s.New.SHA256 == "" {
		s.sum = make(chan string, 1)
		go func() { s.sum <- hashOf(s.data) }() // while the disk is busy; settle waits for it
	}
	return r.fillFile(s, d, file)
}

func (r *run) fillFile(s *step, d *dir, file *os.File) error {
	if err := d.seam.before("write", file.Name()); err != nil {
		return err
	}
	if _, err := file.Write(s.data); err != nil {
		return err
	}
	if s.like != nil {
		st, err := s.like.parent.stat(s.like.name)
		if err != nil {
			return err
		}
		original, err := s.like.parent.open(s.like.name)
		if err == nil {
			defer original.Close()
		} else if !errors.Is(err, fs.ErrPermission) {
			return err
		}
		if err := copyAttrs(original, file, &st); err != nil {
			return err
		}
	}
	if s.executable != nil {
		if err := setExecutable(file, *s.executable); err != nil {
			return err
		}
	}
	if s.file != nil {
		return nil // flushed with all the others
	}
	if err := d.seam.before("fsync", file.Name()); err != nil {
		return err
	}
	return file.Sync()
}

func (s *source) put(d *dir, temp string) error {
	if err := s.replica.make(s.dir, s.name, d, temp); err != nil {
		return err
	}
	if s.attrs == nil {
		return nil
	}
	file, err := d.open(temp)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := s.attrs.apply(file); err != nil {
		return err
	}
	return file.Sync()
}
