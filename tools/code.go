package tools

// Code is a stable error code as it appears on every surface. A Code is itself
// an error, so that errors.Is(err, CodeNotFound) asks what went wrong.
type Code string

// Error returns the code's text.
func (c Code) Error() string { return string(c) }

// The codes of the contract and of the core tools.
const (
	// CodeToolInput: the input does not fit the schema, a limit or itself.
	CodeToolInput Code = "ERR_PRISM_TOOL_INPUT"
	// CodeToolUnknown: no tool of that name is registered.
	CodeToolUnknown Code = "ERR_PRISM_TOOL_UNKNOWN"
	// CodePathEscape: a path leaves the workspace root, or breaks a path rule.
	CodePathEscape Code = "ERR_PRISM_PATH_ESCAPE"
	// CodeNotFound: nothing is at that path.
	CodeNotFound Code = "ERR_PRISM_NOT_FOUND"
	// CodeNotFile: a directory, device, FIFO or socket where a regular file is needed.
	CodeNotFile Code = "ERR_PRISM_NOT_FILE"
	// CodeBinary: the file is not text.
	CodeBinary Code = "ERR_PRISM_BINARY"
	// CodeOutOfRange: an offset past the end.
	CodeOutOfRange Code = "ERR_PRISM_OUT_OF_RANGE"
	// CodeNoMatch: the text looked for is not there.
	CodeNoMatch Code = "ERR_PRISM_NO_MATCH"
	// CodeAmbiguous: the text looked for is there more than once.
	CodeAmbiguous Code = "ERR_PRISM_AMBIGUOUS"
	// CodeOverlap: two edits touch the same bytes.
	CodeOverlap Code = "ERR_PRISM_OVERLAP"
	// CodeNoChange: the edit would leave the file as it is.
	CodeNoChange Code = "ERR_PRISM_NO_CHANGE"
	// CodeFileChanged: the file is not the one the call was made for.
	CodeFileChanged Code = "ERR_PRISM_FILE_CHANGED"
	// CodeUnread: the read-before-write guard refuses an unread file.
	CodeUnread Code = "ERR_PRISM_UNREAD"
	// CodeExists: something is already at the destination.
	CodeExists Code = "ERR_PRISM_EXISTS"
	// CodeNotEmpty: a directory that still holds entries.
	CodeNotEmpty Code = "ERR_PRISM_NOT_EMPTY"
	// CodeLimit: a cap was met while running, or a file is over its cap.
	CodeLimit Code = "ERR_PRISM_LIMIT"
	// CodeTimeout: the deadline passed.
	CodeTimeout Code = "ERR_PRISM_TIMEOUT"
	// CodeAborted: the caller cancelled.
	CodeAborted Code = "ERR_PRISM_ABORTED"
	// CodeExecutionDenied: the policy refused before anything happened.
	CodeExecutionDenied Code = "ERR_PRISM_EXECUTION_DENIED"
	// CodePermission: the operating system refused.
	CodePermission Code = "ERR_PRISM_PERMISSION"
	// CodeNoSpace: the file system is full (space, inodes or quota).
	CodeNoSpace Code = "ERR_PRISM_NO_SPACE"
	// CodeIO: any other input/output failure.
	CodeIO Code = "ERR_PRISM_IO"
	// CodeHardlink: the file has other names, and the call did not allow that.
	CodeHardlink Code = "ERR_PRISM_HARDLINK"
	// CodeStateUnavailable: durable state is needed and cannot be had.
	CodeStateUnavailable Code = "ERR_PRISM_STATE_UNAVAILABLE"
	// CodeDecisionUnsupported: nobody can be asked.
	CodeDecisionUnsupported Code = "ERR_PRISM_DECISION_UNSUPPORTED"
	// CodeInternal: a fault of prism-ls itself.
	CodeInternal Code = "ERR_PRISM_INTERNAL"
	// CodeIndexUnsupported: no engine serves that indexed search mode.
	CodeIndexUnsupported Code = "ERR_PRISM_INDEX_UNSUPPORTED"
)

// The codes of language intelligence.
const (
	// CodeLSPFraming: a server broke the base protocol (LSP 3.17 §baseProtocol).
	CodeLSPFraming Code = "ERR_PRISM_LSP_FRAMING"
	// CodeLSPServer: a server is missing, down, or answered with an error.
	CodeLSPServer Code = "ERR_PRISM_LSP_SERVER"
	// CodeLSPTimeout: a server did not answer a mutating request in time.
	CodeLSPTimeout Code = "ERR_PRISM_LSP_TIMEOUT"
	// CodeLSPLimit: an answer, or what is pending, is over its bound.
	CodeLSPLimit Code = "ERR_PRISM_LSP_LIMIT"
	// CodeLSPUnsupported: the server does not offer that operation.
	CodeLSPUnsupported Code = "ERR_PRISM_LSP_UNSUPPORTED"
	// CodeLSPWorkspace: an edit leaves the workspace or breaks its rules.
	CodeLSPWorkspace Code = "ERR_PRISM_LSP_WORKSPACE"
	// CodeLSPAmbiguous: a place names several symbols.
	CodeLSPAmbiguous Code = "ERR_PRISM_LSP_AMBIGUOUS"
	// CodeLSPStale: the text the answer was made for is gone.
	CodeLSPStale Code = "ERR_PRISM_LSP_STALE"
)

// The codes of the git runner.
const (
	// CodeGitFailed: git ended with an error.
	CodeGitFailed Code = "ERR_PRISM_GIT_FAILED"
	// CodeGitNotRepository: there is no git work tree here.
	CodeGitNotRepository Code = "ERR_PRISM_GIT_NOT_REPOSITORY"
)
