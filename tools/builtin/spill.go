package builtin

import "os"

// spill is a file for output that is too much to show. Its name is random and
// only its owner can read it: output holds whatever commands print.
type spill struct{ file *os.File }

// openSpill makes the file, mode 0600, in dir or where temporary files go.
func openSpill(dir string) (*spill, error) {
	file, err := os.CreateTemp(dir, "prism-shell-*.log")
	if err != nil {
		return nil, err
	}
	return &spill{file}, nil
}

func (s *spill) write(p []byte) error {
	_, err := s.file.Write(p)
	return err
}

// keep closes the file and returns its path.
func (s *spill) keep() (string, error) { return s.file.Name(), s.file.Close() }

// discard removes the file.
func (s *spill) discard() {
	s.file.Close()
	os.Remove(s.file.Name())
}
