package workspace

// seam lets a test fail, or end the process, at the nth step that changes the
// disk. It is nil outside of tests.
type seam struct {
	at func(step, name string) error
}

// String names the mode as a step.
func (m renameMode) String() string {
	switch m {
	case renameExchange:
		return "exchange"
	case renameNoReplace:
		return "rename new"
	}
	return "rename"
}

func (s *seam) before(step, name string) error {
	if s == nil || s.at == nil {
		return nil
	}
	return s.at(step, name)
}
