// Package procsess runs programs that outlive the call that started them: in a
// terminal or on pipes, with output that any number of readers take by cursor.
//
//	registry, err := procsess.New(owner, &procsess.Options{Env: os.Environ(), StateDir: state})
//	defer registry.Close()
//
//	me := procsess.Caller{Owner: "agent-1"}
//	server, err := registry.Start(ctx, me, procsess.Start{
//		Command: "npm run dev", Shell: true,
//		Ready: &procsess.Ready{Match: "Local:", Port: 5173},
//	})
//	page, err := registry.Output(ctx, me, server.ID, procsess.Output{}) // what is new since the last page
//	waited, err := registry.Wait(ctx, me, server.ID, procsess.Wait{Regex: `error|compiled`})
//
// # Output
//
// Everything that a program writes is one sequence of bytes, and a cursor is an
// offset into it, which never changes its meaning. Reading takes nothing away. The
// first 64 KiB are always kept, the last MiB in memory, and what lies between in a
// file without a name, the newest part of it if it is too much; a page says how much
// it had to leave out. Each view is made of these bytes when somebody asks: raw as
// they are; text without escapes, with the last state of a line that was written
// over; screen as a terminal shows it.
//
// # Ends
//
// That a program has ended and that its output has ended are two facts. What is
// buffered at the exit is read to its end first, so a wait for the exit comes with
// all of the output. If somebody else still holds the output open, the wait says so
// 50 ms after the last byte, or a second after the end if they go on writing, and
// names them; what they write later is read by cursor all the same.
//
// [Registry.Kill], [Registry.Close] and the end of this process, however it comes
// about, take along everything that a session has started, however it tried to get
// away (see package child). A durable session lives on below a process of its own
// and is taken up again by [Registry.Recover]; a released one is nobody's.
//
// # Input
//
// Input never waits for the program: the answer says how much the kernel has taken
// and how much is queued. Whether a program waits for input is told from what the
// kernel knows about its system calls, never from what it wrote.
//
// Sessions need Linux; elsewhere a start is refused.
package procsess
