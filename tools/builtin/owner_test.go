package builtin

import (
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

func TestStateOwner(t *testing.T) {
	ann, bob := &tools.Call{}, &tools.Call{}
	ann.Owner, ann.Session, bob.Owner = "ann", "one", "bob"
	if got := stateOwner(ann); got != (state.Owner{User: "ann"}) {
		t.Errorf("%+v", got)
	}
	if stateOwner(ann) == stateOwner(bob) {
		t.Error("two owners have the same records")
	}
}
