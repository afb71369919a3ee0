// Package host puts the parts together for one workspace: files, search,
// programs, policy, audit log and tools, as a configuration says. Opening a
// host starts no process and writes nothing into the workspace.
package host
