package procsess_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools/child"
)

// A program that asks for something is started, waited for, answered and read. A
// main function begins with child.Main and procsess.Main.
func Example() {
	ctx := context.Background()
	owner := child.NewOwner(nil)
	defer owner.Close()
	registry, err := procsess.New(owner, &procsess.Options{Env: os.Environ()})
	if err != nil {
		log.Fatal(err)
	}
	defer registry.Close()

	me := procsess.Caller{Owner: "example"}
	session, err := registry.Start(ctx, me, procsess.Start{
		Command: `printf 'your name? '; read name; echo "hello $name"; exit 3`, Shell: true,
		Ready: &procsess.Ready{Match: "name?"},
	})
	if err != nil {
		log.Fatal(err)
	}
	waited, err := registry.Wait(ctx, me, session.ID, procsess.Wait{Input: true, Timeout: time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(waited.Reason, waited.Input.State, waited.Input.Mode)

	if _, err := registry.Input(ctx, me, session.ID, procsess.Type{Text: "Ada", Keys: []string{"enter"}}); err != nil {
		log.Fatal(err)
	}
	waited, err = registry.Wait(ctx, me, session.ID, procsess.Wait{Exit: true, Timeout: time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	page, err := registry.Output(ctx, me, session.ID, procsess.Output{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s%s with %d, all of the output: %t\n", page.Data, waited.State, *waited.Exit.Code, page.EOF)
	// Output:
	// input blocked_read line
	// your name? Ada
	// hello Ada
	// exited with 3, all of the output: true
}
