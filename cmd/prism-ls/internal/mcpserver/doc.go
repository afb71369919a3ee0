// Package mcpserver serves a [tools.Registry] over the Model Context Protocol.
//
// It uses the official SDK for the protocol, over a connection of its own for
// the wire: a malformed frame, a batch, an over-long line or an odd request ID
// is answered and forgotten, where the SDK's own loop would end the program.
//
//	server := mcpserver.New(&mcpserver.Options{Open: open})
//	err := server.Serve(ctx, mcpserver.NewConn(os.Stdin, out, nil))
//
// Options.Open is called when a request first needs the tools, with the root
// that the client names; nothing is opened before.
package mcpserver
