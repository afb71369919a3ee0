package builtin

import (
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// stateOwner is whose records a call may see and make: those of its owner. It is in
// one place so that all tools keep theirs under the same one.
func stateOwner(call *tools.Call) state.Owner { return state.Owner{User: call.Owner} }
