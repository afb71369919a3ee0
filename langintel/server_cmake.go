package langintel

// neocmake is neocmakelsp.
func neocmake() Spec {
	return Spec{
		Name:      "neocmakelsp",
		Languages: []Language{{ID: "cmake", Patterns: []string{"CMakeLists.txt", "*.cmake"}}},
		Roots:     []string{".neocmake.toml"},
		FilesOnly: true,
		Program:   "neocmakelsp", Args: []string{"stdio"},
		Install: &Install{Hint: "`cargo install neocmakelsp` installs it"},
	}
}
