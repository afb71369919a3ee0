package langintel_test

import "github.com/prism-ls/prism-ls/langintel"

// smallServers know one file at a time, or little of several.
func smallServers() []realServer {
	return []realServer{
		{
			name: "bash", fixture: "sh-shop", require: []string{"bash"},
			outline: "lib.sh", symbols: []string{"function count:4", "function sell:9"},
			definition: realQuery{langintel.Place{Path: "main.sh", Line: 5, Symbol: "sell"}, []string{"lib.sh:9:1-2"}},
			references: realQuery{
				langintel.Place{Path: "main.sh", Line: 4, Symbol: "count"},
				[]string{"lib.sh:4:1-6", "lib.sh:10:3-8", "main.sh:4:1-6"},
			},
			hover: langintel.Place{Path: "main.sh", Line: 4, Symbol: "count"}, hoverText: "Counts what stands on a shelf",
			workspace: "sell", workspaceIs: "lib.sh:9 sell",
			rename: realRename{
				place: langintel.Place{Path: "main.sh", Line: 5, Symbol: "sell"}, name: "vend",
				files: []string{"lib.sh", "main.sh"}, checks: [][]string{{"bash", "-e", "main.sh"}},
				partial: true, // shellcheck is not there, and so nothing is known of problems
			},
		},
		{
			name: "yaml", fixture: "web-site",
			outline: "deploy.yaml", symbols: []string{
				"module shop:1", "  string name:2", "  number shelves:3", "array copies:4", "  module 0:2", "    string name:2", "    number shelves:3",
				"  module 1:6", "    module é 日本 😀:6", "      string name:2", "      number shelves:3",
			},
			definition: realQuery{langintel.Place{Path: "deploy.yaml", Line: 5, Symbol: "shop"}, []string{"deploy.yaml:2:3-1"}},
			rename: realRename{
				place: langintel.Place{Path: "deploy.yaml", Line: 6, Symbol: "shop"}, name: "store", files: []string{"deploy.yaml"},
				checks: [][]string{{"grep", "-c", "*store", "deploy.yaml"}},
			},
			delta: realDelta{"deploy.yaml", "shelves: 2", "shelves: [2,", []string{"deploy.yaml:4 Flow sequence"}},
		},
		{
			name: "json", fixture: "web-site",
			outline: "settings.json", symbols: []string{"string $schema:2", "number shelves:3", "array names:4", "  string 0:4", "  string 1:4"},
			hover: langintel.Place{Path: "settings.json", Line: 3, Symbol: "shelves"}, hoverText: "How many there are",
			delta: realDelta{"settings.json", `"shelves": 2`, `"shelves": "2"`, []string{"settings.json:3 Incorrect type"}},
		},
		{
			name: "html", fixture: "web-site",
			outline: "index.html", symbols: []string{"field html:2", "field head:3", "field title:4", "field link:5", "field body:7", "field main#shelf:8", "field p.tea:8", "field b:8"},
			hover: langintel.Place{Path: "index.html", Line: 8, Symbol: "main"}, hoverText: "represents the main content",
		},
		{
			name: "css", fixture: "web-site",
			outline: "site.css", symbols: []string{"class :root:1", "class .tea:5", "class .wide:9"},
			definition: realQuery{langintel.Place{Path: "site.css", Line: 9, Symbol: "--ink"}, []string{"site.css:2:3-8"}},
			references: realQuery{
				langintel.Place{Path: "site.css", Line: 9, Symbol: "--ink"},
				[]string{"site.css:2:3-8", "site.css:6:14-19", "site.css:9:40-45"},
			},
			rename: realRename{
				place: langintel.Place{Path: "site.css", Line: 9, Symbol: "--ink"}, name: "--pen", files: []string{"site.css"},
				checks: [][]string{{"grep", "-q", "border-color: var(--pen); }", "site.css"}},
			},
			delta: realDelta{"site.css", "color: var(--ink);", "color: ;", []string{"site.css:6 property value expected"}},
		},
		{
			name: "intelephense", fixture: "php-shop",
			outline: "src/Till.php", symbols: []string{"namespace Shop:3", "class Till:5", "  method sell:7", "    variable $shelf:7"},
			definition: realQuery{langintel.Place{Path: "src/Till.php", Line: 12, Symbol: "add"}, []string{"src/Shelf.php:14:21-24"}},
			references: realQuery{
				langintel.Place{Path: "src/Till.php", Line: 12, Symbol: "add"},
				[]string{"main.php:6:40-43", "src/Shelf.php:14:21-24", "src/Till.php:12:17-20"},
			},
			hover: langintel.Place{Path: "main.php", Line: 6, Symbol: "add"}, hoverText: "Puts n more onto the shelf",
			workspace: "Shelf", workspaceIs: "src/Shelf.php:5 Shelf",
			delta: realDelta{"src/Till.php", "->add(-1)", "->put(-1)", []string{"src/Till.php:12 Undefined method 'put'"}},
		},
	}
}
