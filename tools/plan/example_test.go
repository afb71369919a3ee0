package plan_test

import (
	"fmt"

	"github.com/prism-ls/prism-ls/tools/plan"
)

// A person's notes, and what looks like an item in code, stay as they are.
func ExampleDocument_Edit() {
	text := "# Mend it\n\n- [ ] [find] Find the race\n  (see the log)\n\n```\n- [ ] [find] not this one\n```\n"
	document, err := plan.Parse([]byte(text), plan.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	done := true
	document, err = document.Edit(plan.Edit{ID: "find", Done: &done})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(document.Bytes()))
	// Output:
	// # Mend it
	//
	// - [x] [find] Find the race
	//   (see the log)
	//
	// ```
	// - [ ] [find] not this one
	// ```
}
