//go:build !linux

package langintel

import "errors"

// notifier is not there on this system: changes are found by looking.
type notifier struct{}

type notice struct {
	name string
	dir  bool
}

func newNotifier() (*notifier, error) {
	return nil, errors.New("this system's notifications are not used")
}

func (*notifier) add(string) error        { return nil }
func (*notifier) drain() ([]notice, bool) { return nil, false }
func (*notifier) close() error            { return nil }
