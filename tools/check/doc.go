// Package check runs the checks that a host declares by name, and reads what they
// say into diagnostics.
//
//	checks, err := check.New([]check.Definition{
//		{Name: "vet", File: "go", Args: []string{"vet", "./..."}, Parser: "go"},
//	}, &check.Options{Owner: owner, Root: ws.Root(), Environment: os.Environ()})
//	result, err := checks.Run(ctx, "vet")
//
// A caller picks a name and nothing else: program, arguments, variables, directory
// and time are the host's, so that whoever may run a check may run nothing else.
// What a check leaves running is killed with it.
package check
