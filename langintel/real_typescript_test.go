package langintel_test

import "github.com/prism-ls/prism-ls/langintel"

// typescriptServers are the servers of a project of four packages that refer to
// each other. They agree on everything that is asked, but for how they name what
// they list.
func typescriptServers() []realServer {
	base := realServer{
		fixture: "ts-shop", require: []string{"node"},
		workspace: "sell", workspaceIs: "till/till.ts:5 sell",
		outline: "stock/shelf.ts",
		symbols: []string{"interface Counter:5", "  method count:6", "class Shelf:10", "  property items:11",
			"  constructor constructor:13", "  property name:13", "  property each:13", "  method add:16", "  method take:20",
			"  method count:24", "  method toString:28"},
		definition: realQuery{langintel.Place{Path: "app/main.ts", Line: 8, Symbol: "sell"}, []string{"till/till.ts:5:17-21"}},
		references: realQuery{langintel.Place{Path: "core/money.ts", Line: 7, Symbol: "price"}, []string{
			"app/main.ts:2:10-15", "app/main.ts:6:36-41", "core/money.ts:7:17-22", "core/money.ts:13:10-15",
			"stock/shelf.ts:2:22-27", "stock/shelf.ts:13:61-66", "till/till.ts:1:22-27", "till/till.ts:14:21-26",
		}},
		hover: langintel.Place{Path: "app/main.ts", Line: 8, Symbol: "sell"}, hoverText: "sell takes items from a shelf",
		wide: realWide{"core/label.ts", [][2]int{{6, 27}, {7, 28}, {8, 28}, {8, 46}}, "core/label.ts:2:17-21", "mark(", "quote日("},
		rename: realRename{
			place: langintel.Place{Path: "core/label.ts", Line: 2, Symbol: "mark"}, name: "quote日",
			files:  []string{"app/main.ts", "core/label.ts", "stock/shelf.ts"},
			checks: [][]string{{"tsc", "-b"}, {"node", "out/app/main.js"}},
		},
		// The files in which the problems show are not open.
		delta: realDelta{"core/money.ts", "price(cents: number)", "price(cents: number, tip: number)", []string{
			"app/main.ts:6 Expected 2 arguments", "core/money.ts:13 Expected 2 arguments", "core/money.ts:7 'tip' is declared but",
			"stock/shelf.ts:13 Expected 2 arguments", "till/till.ts:14 Expected 2 arguments",
		}},
	}
	tsls, vtsls, tsgo := base, base, base
	tsls.name, vtsls.name, tsgo.name = "typescript-language-server", "vtsls", "tsgo"
	tsgo.symbols = append([]string{"variable mark:1", "variable Money:2", "variable price:2"}, base.symbols...) // imports too
	// The native compiler says the same and takes less time over it.
	native := [][]string{{"tsgo", "-b"}, {"node", "out/app/main.js"}}
	vtsls.rename.checks, tsgo.rename.checks = native, native
	return asAsked([]realServer{tsls, tsgo}, vtsls)
}
