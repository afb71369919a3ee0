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
	// CodeGitDirty: changes that are not committed stand in the way.
	CodeGitDirty Code = "ERR_PRISM_GIT_DIRTY"
	// CodeGitRef: a ref or branch name is malformed, missing, taken or has moved.
	CodeGitRef Code = "ERR_PRISM_GIT_REF"
	// CodeGitConflict: a patch does not apply, or paths are unmerged.
	CodeGitConflict Code = "ERR_PRISM_GIT_CONFLICT"
	// CodeGitIdentity: a commit needs a name and an address, and the host gave none.
	CodeGitIdentity Code = "ERR_PRISM_GIT_IDENTITY"
	// CodeGitLFS: a path needs a filter that the host has not allowed.
	CodeGitLFS Code = "ERR_PRISM_GIT_LFS"
)

// The codes of checks, plans and their checkpoints.
const (
	// CodeCheckUnknown: no check of that name is declared.
	CodeCheckUnknown Code = "ERR_PRISM_CHECK_UNKNOWN"
	// CodePlanChanged: the plan is not the one the call was made for.
	CodePlanChanged Code = "ERR_PRISM_PLAN_CHANGED"
	// CodePlanInvalid: a plan that cannot be read as one, or breaks a bound.
	CodePlanInvalid Code = "ERR_PRISM_PLAN_INVALID"
	// CodeCodingCheckpoint: a checkpoint is malformed, holds what it must not, or does
	// not match what it is resumed with.
	CodeCodingCheckpoint Code = "ERR_PRISM_CODING_CHECKPOINT"
)

// The codes of task workspaces.
const (
	// CodeWorkspaceUnknown: there is no such workspace, or what became of it cannot be known.
	CodeWorkspaceUnknown Code = "ERR_PRISM_WORKSPACE_UNKNOWN"
	// CodeWorkspaceLimit: a bound on repositories, worktrees, records or operations is met.
	CodeWorkspaceLimit Code = "ERR_PRISM_WORKSPACE_LIMIT"
	// CodeWorkspaceOwnership: the workspace or worktree belongs to another owner.
	CodeWorkspaceOwnership Code = "ERR_PRISM_WORKSPACE_OWNERSHIP"
	// CodeWorkspaceFence: somebody else has taken the workspace over since.
	CodeWorkspaceFence Code = "ERR_PRISM_WORKSPACE_FENCE"
	// CodeWorkspaceDirty: a worktree holds what is saved nowhere else.
	CodeWorkspaceDirty Code = "ERR_PRISM_WORKSPACE_DIRTY"
	// CodeWorkspaceLocked: somebody else has locked the worktree.
	CodeWorkspaceLocked Code = "ERR_PRISM_WORKSPACE_LOCKED"
	// CodeWorkspaceMain: the main worktree is never removed.
	CodeWorkspaceMain Code = "ERR_PRISM_WORKSPACE_MAIN"
	// CodeWorkspacePathEscape: a worktree is not where it was made.
	CodeWorkspacePathEscape Code = "ERR_PRISM_WORKSPACE_PATH_ESCAPE"
	// CodeWorkspaceFingerprint: a remote, head or other binding is not as recorded.
	CodeWorkspaceFingerprint Code = "ERR_PRISM_WORKSPACE_FINGERPRINT"
)

// The codes of stores, with CodeStateUnavailable.
const (
	// CodeStateConflict: the record is not at the version that was expected.
	CodeStateConflict Code = "ERR_PRISM_STATE_CONFLICT"
	// CodeStateFence: somebody with a higher fencing token has saved since.
	CodeStateFence Code = "ERR_PRISM_STATE_FENCE"
	// CodeStateOwnership: the record belongs to another owner.
	CodeStateOwnership Code = "ERR_PRISM_STATE_OWNERSHIP"
	// CodeStateLimit: a record or one of its names is over its bound.
	CodeStateLimit Code = "ERR_PRISM_STATE_LIMIT"
	// CodeEffectUnknown: whether an effect happened is not known; a person must say.
	CodeEffectUnknown Code = "ERR_PRISM_TOOL_EFFECT_UNKNOWN"
)

// The codes of process sessions.
const (
	// CodeProcessPolicy: the policy refused to start, signal or feed a process.
	CodeProcessPolicy Code = "ERR_PRISM_PROCESS_POLICY"
	// CodeProcessOwnership: the session belongs to another owner.
	CodeProcessOwnership Code = "ERR_PRISM_PROCESS_OWNERSHIP"
	// CodeProcessState: there is no such session, or not in a state for this.
	CodeProcessState Code = "ERR_PRISM_PROCESS_STATE"
	// CodeProcessLimit: a bound on sessions, input, output or rates is met.
	CodeProcessLimit Code = "ERR_PRISM_PROCESS_LIMIT"
	// CodePTYUnsupported: this system has no pseudo-terminals.
	CodePTYUnsupported Code = "ERR_PRISM_PROCESS_PTY_UNSUPPORTED"
	// CodePTYBackend: a pseudo-terminal could not be opened or used.
	CodePTYBackend Code = "ERR_PRISM_PROCESS_PTY_BACKEND"
	// CodePTYLimit: a terminal's size, or how often it may change, is over its bound.
	CodePTYLimit Code = "ERR_PRISM_PROCESS_PTY_LIMIT"
	// CodeProcessUnsupported: this kind of session cannot do that.
	CodeProcessUnsupported Code = "ERR_PRISM_PROCESS_UNSUPPORTED"
)

// The codes of sessions that are taken up again.
const (
	// CodeRecoveryUnsupported: sessions cannot outlive prism-ls here.
	CodeRecoveryUnsupported Code = "ERR_PRISM_RECOVERY_UNSUPPORTED"
	// CodeRecoveryLimit: there are more records than may be taken up.
	CodeRecoveryLimit Code = "ERR_PRISM_RECOVERY_LIMIT"
	// CodeRecoveryOwnership: the recorded session belongs to another owner.
	CodeRecoveryOwnership Code = "ERR_PRISM_RECOVERY_OWNERSHIP"
	// CodeRecoveryFence: another prism-ls has taken the session up since.
	CodeRecoveryFence Code = "ERR_PRISM_RECOVERY_FENCE"
	// CodeRecoveryUnknown: what became of the session cannot be known.
	CodeRecoveryUnknown Code = "ERR_PRISM_RECOVERY_UNKNOWN"
	// CodeRecoveryUntrusted: what answers is not what was recorded.
	CodeRecoveryUntrusted Code = "ERR_PRISM_RECOVERY_UNTRUSTED"
	// CodeRecoveryTimeout: what was recorded did not answer in time.
	CodeRecoveryTimeout Code = "ERR_PRISM_RECOVERY_TIMEOUT"
)
