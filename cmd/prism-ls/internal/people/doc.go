// Package people is how a person at a terminal gets at the process sessions of a
// workspace: [Sessions] is what the commands need, [Local] has it from a registry
// in this process, [Client] from one in another, where [Serve] answers. [Attach]
// joins a person's terminal with a session.
package people
