package langintel_test

import "github.com/prism-ls/prism-ls/langintel"

// pythonServers are the servers of a project of three packages and their tests.
func pythonServers() []realServer {
	base := realServer{
		fixture: "py-shop", require: []string{"python3"},
		workspace: "sell", workspaceIs: "till/till.py:7 sell",
		outline: "stock/shelf.py",
		symbols: []string{"class Shelf:7", "  method __init__:10", "    variable name:10", "    variable each:10",
			"  variable name:11", "  variable each:12", "  variable _items:13", "  method add:15", "    variable items:15",
			"  method take:19", "    variable items:19", "  method count:22", "  method __str__:25"},
		definition: realQuery{langintel.Place{Path: "tests/test_till.py", Line: 13, Symbol: "sell"}, []string{"till/till.py:7:5-9"}},
		references: realQuery{langintel.Place{Path: "core/money.py", Line: 13, Symbol: "price"}, []string{
			"core/money.py:13:5-10", "core/money.py:20:12-17", "stock/shelf.py:4:31-36", "stock/shelf.py:10:49-54",
			"tests/test_till.py:4:24-29", "tests/test_till.py:11:34-39", "tests/test_till.py:13:43-48",
			"till/till.py:3:31-36", "till/till.py:15:8-13",
		}},
		hover: langintel.Place{Path: "tests/test_till.py", Line: 13, Symbol: "sell"}, hoverText: "sell takes items from a shelf",
		wide: realWide{"core/label.py", [][2]int{{9, 14}, {10, 15}, {11, 15}, {11, 33}}, "core/label.py:4:5-9", "mark(", "quote日("},
		rename: realRename{
			place: langintel.Place{Path: "core/label.py", Line: 4, Symbol: "mark"}, name: "quote日",
			files:  []string{"core/label.py", "stock/shelf.py", "tests/test_till.py"},
			checks: [][]string{{"python3", "-m", "compileall", "-q", "."}, {"python3", "-m", "unittest", "discover", "-s", "tests", "-t", "."}},
		},
		delta: realDelta{"core/money.py", "price(cents: int)", "price(cents: int, tip: int)", []string{
			`core/money.py:13 "tip" is not accessed`, "core/money.py:20 Argument missing", "stock/shelf.py:10 Argument missing",
			"tests/test_till.py:11 Argument missing", "tests/test_till.py:13 Argument missing", "till/till.py:15 Argument missing",
		}},
	}
	pyright, based := base, base
	pyright.name, based.name = "pyright", "basedpyright"
	// basedpyright installs a program of pyright's name as well.
	pyright.links = map[string]string{"pyright-langserver": "pyright/langserver.index.js"}
	return asAsked([]realServer{pyright}, based)
}
