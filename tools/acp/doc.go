// Package acp answers what an agent asks of its client by the Agent Client
// Protocol, version 1: reading and writing text files, and terminals.
//
// [Files] and [Terminals] have the methods of the SDK's Client interface under
// their own names, so that a host embeds them and adds what only it can answer,
// which is session/update and session/request_permission:
//
//	type client struct {
//		*acp.Files
//		*acp.Terminals
//		screen
//	}
//
//	files := acp.NewFiles(ws, &acp.FilesOptions{Gate: gate})
//	terminals := acp.NewTerminals(sessions, ws, &acp.TerminalsOptions{Gate: gate})
//	conn := protocol.NewClientSideConnection(&client{files, terminals, screen}, in, out)
//
// Paths are absolute, as the protocol has them, and stay inside the workspace
// root whatever links say. A write is atomic, serialised with all other writers
// and never goes through a hard link. Nothing happens before the [Gate] agreed.
//
// Failures are JSON-RPC errors whose data has the stable code (ERR_PRISM_…).
package acp
