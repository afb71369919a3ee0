package langintel_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/prism-ls/prism-ls/langintel"
)

func clangdServers() []realServer {
	var out []realServer
	for _, program := range []string{"clangd-14", "clangd-22"} {
		out = append(out, realServer{
			name: "clangd", program: program, fixture: "cpp-shop", prepare: compileCommands, require: []string{"g++"},
			outline: "src/till.cpp",
			symbols: []string{"namespace shop:3", "  function sell:5", "  function total:13"},
			definition: realQuery{
				langintel.Place{Path: "src/main.cpp", Line: 8, Symbol: "add"}, []string{"src/shelf.cpp:9:13-16"},
			},
			// The call in main.cpp stands behind characters of one, two and three units,
			// and twice.cpp ends its lines with CRLF.
			references: realQuery{
				langintel.Place{Path: "src/till.cpp", Line: 9, Symbol: "add"},
				[]string{
					"include/shelf.hpp:19:8-11", "src/main.cpp:7:7-10", "src/main.cpp:8:21-24", "src/shelf.cpp:9:13-16",
					"src/till.cpp:9:9-12", "src/twice.cpp:7:22-25",
				},
			},
			hover: langintel.Place{Path: "src/main.cpp", Line: 7, Symbol: "add"}, hoverText: "puts n more onto the shelf",
			workspace: "Shelf", workspaceIs: "include/shelf.hpp:15 Shelf",
			rename: realRename{
				place: langintel.Place{Path: "src/till.cpp", Line: 9, Symbol: "add"}, name: "put",
				files:  []string{"include/shelf.hpp", "src/main.cpp", "src/shelf.cpp", "src/till.cpp", "src/twice.cpp"},
				checks: [][]string{{"sh", "-c", "g++ -std=c++17 -Iinclude src/*.cpp -o shop && ./shop"}},
			},
			delta: realDelta{
				file: "src/till.cpp", old: "return true;", new: "return maybe;",
				want: []string{"src/till.cpp:10 Use of undeclared identifier 'maybe'"},
			},
		})
	}
	return out
}

// compileCommands writes the compilation database of cpp-shop, which names
// absolute directories.
func compileCommands(t testing.TB, dir string) {
	t.Helper()
	type entry struct {
		Directory string   `json:"directory"`
		File      string   `json:"file"`
		Arguments []string `json:"arguments"`
	}
	var list []entry
	sources, err := filepath.Glob(filepath.Join(dir, "src", "*.cpp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		rel := filepath.Join("src", filepath.Base(name))
		list = append(list, entry{dir, rel, []string{"g++", "-std=c++17", "-Wall", "-Iinclude", "-c", rel}})
	}
	data, err := json.MarshalIndent(list, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "compile_commands.json"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
