package tools

import (
	"fmt"
	"time"
)

// Limit is a bound with a default and a hard cap. Values beyond the cap, zero
// and negative values are refused, never clamped.
type Limit struct {
	// Name is the option or input field, as a caller writes it.
	Name string
	// Default applies when nothing is asked for.
	Default int64
	// Hard is the largest value that may be asked for.
	Hard int64
	// ZeroOK allows 0 (context lines, offsets, cursors).
	ZeroOK bool
}

// Of returns the limit to use for a caller's optional value: the default for
// nil, the value itself when it is within bounds, else a CodeToolInput error.
func (l Limit) Of(value *int64) (int64, error) {
	if value == nil {
		return l.Default, nil
	}
	return *value, l.check(*value)
}

// Option returns the limit to use for a host's option, where zero means the
// default.
func (l Limit) Option(value int64) (int64, error) {
	if value == 0 {
		return l.Default, nil
	}
	return value, l.check(value)
}

// Duration returns the limit to use for a host's option that is a time, where l is in
// seconds, and zero means the default. A part of a second is as good as a whole one.
func (l Limit) Duration(value time.Duration) (time.Duration, error) {
	if value == 0 {
		return time.Duration(l.Default) * time.Second, nil
	}
	if value < 0 || value > time.Duration(l.Hard)*time.Second {
		return 0, Errorf(CodeToolInput, "%s is %v, must be more than 0 and at most %v", l.Name, value.Seconds(), l.Hard)
	}
	return value, nil
}

func (l Limit) check(value int64) error {
	lowest := int64(1)
	if l.ZeroOK {
		lowest = 0
	}
	if value < lowest || value > l.Hard {
		return Errorf(CodeToolInput, "%s is %d, must be %d to %d", l.Name, value, lowest, l.Hard)
	}
	return nil
}

// String returns the limit as documentation shows it.
func (l Limit) String() string {
	return fmt.Sprintf("%s: default %d, at most %d", l.Name, l.Default, l.Hard)
}
