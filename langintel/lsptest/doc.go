// Package lsptest is a language server that follows a script, for what a real
// one does not do on demand: break frames, hang, die, answer late, ask back
// before it has answered.
//
// It is a real program: the test binary executed again. A test's TestMain calls
// [Main] first, and a test gives the client the program and arguments that
// [Command] returns:
//
//	func TestMain(m *testing.M) {
//		lsptest.Main()
//		os.Exit(m.Run())
//	}
//
//	program, args, record := lsptest.Command(t, &lsptest.Script{
//		On: []lsptest.Rule{{Method: "textDocument/hover", Do: []lsptest.Action{{Exit: 3}}}},
//	})
//
// Everything that the server receives is recorded, and [Record.Messages] gives
// it to the test.
package lsptest
