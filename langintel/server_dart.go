package langintel

// dart is the analysis server of the Dart SDK.
func dart() Spec {
	return Spec{
		Name:      "dart",
		Languages: []Language{{ID: "dart", Patterns: []string{"*.dart"}}},
		Roots:     []string{"pubspec.yaml"},
		Program:   "dart", Args: []string{"language-server", "--protocol=lsp"},
		Install: &Install{Hint: "it comes with the Dart SDK: https://dart.dev/get-dart"},
		// Else what refers to a symbol from a package without an open file is missed.
		Settings: []byte(`{"onlyAnalyzeProjectsWithOpenFiles":false,"suggestFromUnimportedLibraries":false}`),
		RunsCode: "analysis_options.yaml can name plugins, which it runs",
	}
}
