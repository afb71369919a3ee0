// Package langintel asks language servers about the code in one workspace, and
// lets them change it safely.
//
// A [Client] is bound to a workspace and starts the servers of its catalogue
// when a question first needs one:
//
//	client, err := langintel.New(workspace, owner, &langintel.Options{
//		Env:       child.Environment(environ, nil),
//		ServerDir: "/home/ada/.local/share/prism-ls/servers",
//	})
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	answer, err := client.References(ctx, langintel.ReferencesQuery{
//		Place: langintel.Place{Symbol: "Command.Execute"},
//	})
//
// A [Place] is a path with a line and a column, a path with a line and the text
// on it, or a symbol's name path alone. Lines and columns count from 1, columns
// in Unicode code points, end columns are exclusive; a result carries the same
// range as LSP counts it too.
//
// Every result embeds an [Answer]: whether it is complete, which server gave it,
// and by what it is known to be current. A query whose server is slow or cannot
// do what is asked answers with [Timeout] or [Unsupported]; for a change those
// are errors.
//
// The disk is the truth. The client compares files with what the servers have
// been told before each request, and [Client.Changed] tells it of changes at
// once. A [Client.Rename] goes through one path: the server's edit is checked,
// the caller's Authorise sees every file, one transaction writes all of them or
// none, and the diagnostics before and after are compared.
//
// Text that comes from a server is data: it is bounded, and control characters
// in it are escaped. A server that breaks the protocol is ended; the client goes
// on. Errors carry the codes ERR_PRISM_LSP_… of package tools.
//
// Another server is one file with a [Spec] and one line in catalog.go.
package langintel
