package edit_test

import (
	"fmt"

	"github.com/prism-ls/prism-ls/tools/edit"
)

// The file has Windows line endings and a typographic quote; the model writes
// neither. Only the matched bytes change.
func ExampleApply() {
	file := []byte("say(\u201chello\u201d)\r\nexit\r\n")
	result, err := edit.Apply(file, []edit.Replacement{{Old: "say(\"hello\")\nexit", New: "say(\"bye\")\nexit"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q fuzzy=%t line=%d\n", result.Data, result.Fuzzy, result.FirstChangedLine)
	// Output: "say(\"bye\")\r\nexit\r\n" fuzzy=true line=1
}
