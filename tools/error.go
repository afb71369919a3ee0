package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Error is a failure with a stable code. Message says what was wrong and what
// would be right, in words that fit on a line; Details, where present, is a
// JSON-encodable value for a program (never for a decision on its text).
type Error struct {
	Code    Code
	Message string
	Details any
	Err     error
}

// Error returns "CODE: message".
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is this error's code.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// Errorf makes an Error; a %w operand becomes its cause.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), Err: errors.Unwrap(wrapped)}
}

// WithDetails returns a copy of e that carries details.
func (e *Error) WithDetails(details any) *Error {
	clone := *e
	clone.Details = details
	return &clone
}

// AsError turns any error into a coded one: an Error in its chain as it is,
// context ends as CodeAborted and CodeTimeout, operating system errors by
// [CodeOfErrno], everything else CodeInternal. nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var coded *Error
	if errors.As(err, &coded) {
		return coded
	}
	return &Error{Code: codeOf(err), Message: err.Error(), Err: err}
}

func codeOf(err error) Code {
	var errno syscall.Errno
	switch {
	case errors.Is(err, context.Canceled):
		return CodeAborted
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	case errors.As(err, &errno):
		return CodeOfErrno(errno)
	case errors.Is(err, fs.ErrNotExist):
		return CodeNotFound
	case errors.Is(err, fs.ErrPermission):
		return CodePermission
	case errors.Is(err, fs.ErrExist):
		return CodeExists
	}
	return CodeInternal
}

// CodeOfErrno maps an operating system error number (errno(3)) to a code.
func CodeOfErrno(errno syscall.Errno) Code {
	switch errno {
	case syscall.ENOENT, syscall.ENOTDIR:
		return CodeNotFound
	case syscall.EEXIST:
		return CodeExists
	case syscall.ENOTEMPTY:
		return CodeNotEmpty
	case syscall.EISDIR:
		return CodeNotFile
	case syscall.EACCES, syscall.EPERM, syscall.EROFS:
		return CodePermission
	case syscall.ENOSPC, syscall.EDQUOT:
		return CodeNoSpace
	case syscall.ELOOP, syscall.EXDEV:
		return CodePathEscape
	case syscall.ENAMETOOLONG, syscall.EILSEQ:
		return CodeToolInput
	}
	return CodeIO
}
