// Package daemon has one process serve every client of a workspace: the agents'
// `mcp` and the command line. It keeps language servers warm, and ends when it
// has had nothing to do for a while.
//
// A client connects to a Unix socket and says in one line who it is: build,
// settings given by flags, environment. The daemon answers in one line, with a
// refusal or a welcome. What follows is an MCP session, or the few messages of
// one call of the command line. The configuration files are read anew for every
// client, by the daemon, so that a client's authority is the same as without it.
//
// # Who may connect
//
// Both sides check the other's user (unix(7), SO_PEERCRED), and that it is
// confined as they are themselves: same namespaces, same capabilities, neither
// no_new_privs nor seccomp filters that the other lacks. A command in a sandbox
// could otherwise have the daemon do outside what it may not do inside. Whether
// prism-ls itself started a client is looked up by the process, never asked: such
// a client cannot consent to anything.
//
// # Lives
//
// A lock beside the socket makes the daemon the only one of its name, which is
// made of the workspace root, the state directory and the confinement. A socket
// that nobody listens on is replaced. A client of another build is refused; the
// daemon then ends as soon as nothing needs it, and the client does without.
package daemon
