package langintel_test

import (
	"os"
	"path/filepath"

	"github.com/prism-ls/prism-ls/langintel"
)

func rustServers() []realServer {
	return []realServer{{
		name: "rust-analyzer", fixture: "rust-shop", trusted: true, path: []string{"/usr/bin"},
		require: []string{"/usr/bin/cargo", "/usr/bin/rustc"},
		// Where cargo's home has programs they go before PATH, and this machine's may be
		// stand-ins for a toolchain that nobody wants here.
		env:     map[string]string{"CARGO_NET_OFFLINE": "true", "CARGO_HOME": filepath.Join(os.TempDir(), "prism-ls-test-cargo")},
		outline: "till/src/lib.rs",
		symbols: []string{"function sell:6", "function total:15", "module tests:20", "  function sells:24"},
		definition: realQuery{
			langintel.Place{Path: "label/src/main.rs", Line: 8, Symbol: "add"}, []string{"stock/src/lib.rs:23:12-15"},
		},
		references: realQuery{
			langintel.Place{Path: "till/src/lib.rs", Line: 10, Symbol: "add"},
			[]string{
				"label/src/main.rs:8:9-12", "label/src/main.rs:9:23-26", "label/src/wide.rs:5:53-56", "stock/src/lib.rs:23:12-15",
				"stock/src/lib.rs:47:13-16", "till/src/lib.rs:10:11-14", "till/src/lib.rs:26:13-16",
			},
		},
		hover: langintel.Place{Path: "label/src/main.rs", Line: 8, Symbol: "add"}, hoverText: "Puts n more onto the shelf",
		workspace: "Shelf", workspaceIs: "stock/src/lib.rs:12 Shelf",
		rename: realRename{
			place: langintel.Place{Path: "till/src/lib.rs", Line: 10, Symbol: "add"}, name: "put",
			files:  []string{"label/src/main.rs", "label/src/wide.rs", "stock/src/lib.rs", "till/src/lib.rs"},
			checks: [][]string{{"/usr/bin/cargo", "test", "--offline", "--quiet"}, {"/usr/bin/cargo", "run", "--offline", "--quiet"}},
		},
		delta: realDelta{
			file: "label/src/wide.rs", old: "    two\r\n", new: "    to\r\n",
			want: []string{"label/src/wide.rs:7 cannot find value `to` in this scope"},
		},
	}}
}
