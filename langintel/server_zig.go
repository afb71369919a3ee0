package langintel

// zls is the Zig Language Server; its version has to fit that of zig.
func zls() Spec {
	return Spec{
		Name:      "zls",
		Languages: []Language{{ID: "zig", Patterns: []string{"*.zig", "*.zon"}}},
		Roots:     []string{"build.zig", "zls.json"},
		Program:   "zls",
		Install:   &Install{Hint: "install the release of github.com/zigtools/zls that fits your zig"},
		RunsCode:  "it runs build.zig to learn what the project is made of",
	}
}
