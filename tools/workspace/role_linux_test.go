package workspace

import "fmt"

// playRole is what the test binary does when a test starts it again; see again.
func playRole(role string) {
	roles := map[string]func(){
		"hostile":     hostileRole,
		"rewrite":     rewriteRole,
		"generations": generationsRole,
		"crash":       crashRole,
		"editors":     editorsRole,
	}
	run, ok := roles[role]
	if !ok {
		panic(fmt.Sprintf("no role %q", role))
	}
	run()
}
