package langintel

// buf is the Protocol Buffers server of the buf command.
func buf() Spec {
	return Spec{
		Name:      "buf",
		Languages: []Language{{ID: "proto", Patterns: []string{"*.proto"}}},
		Roots:     []string{"buf.work.yaml", "buf.yaml"},
		Program:   "buf", Args: []string{"lsp", "serve"},
		Local:    []string{"node_modules/.bin/buf"},
		Install:  &Install{Version: "1.75.0", NPM: []string{"@bufbuild/buf@1.75.0"}},
		RunsCode: "buf.yaml can name programs that check the files",
	}
}
