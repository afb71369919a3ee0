//go:build !unix

package sqlite_test

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
