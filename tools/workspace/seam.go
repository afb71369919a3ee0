package workspace

// seam lets a test fail, or end the process, at the nth step that changes the
// disk. It is nil outside of tests.
type seam struct {
	at func(step, name string) error
}

func (s *seam) before(step, name string) error {
	if s == nil || s.at == nil {
		return nil
	}
	return s.at(step, name)
}
