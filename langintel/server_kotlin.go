package langintel

func kotlinLanguages() []Language {
	return []Language{{ID: "kotlin", Patterns: []string{"*.kt", "*.kts"}}}
}

func kotlinRoots() []string {
	return []string{"settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle", "pom.xml"}
}

// kotlinLSP is JetBrains' own server.
func kotlinLSP() Spec {
	return Spec{
		Name: "kotlin-lsp", Group: "kotlin",
		Languages: kotlinLanguages(), Roots: kotlinRoots(),
		Program: "kotlin-lsp", Args: []string{"--stdio"}, Aliases: []string{"intellij-server"},
		Install:  &Install{Hint: "`brew install JetBrains/utils/kotlin-lsp`, or a release of github.com/Kotlin/kotlin-lsp, installs it"},
		RunsCode: "it runs Gradle's build scripts",
	}
}

// kotlinLanguageServer is the older one, which is no longer developed.
func kotlinLanguageServer() Spec {
	return Spec{
		Name: "kotlin-language-server", Group: "kotlin",
		Languages: kotlinLanguages(), Roots: kotlinRoots(),
		Program:  "kotlin-language-server",
		Install:  &Install{Hint: "install a release of github.com/fwcd/kotlin-language-server; kotlin-lsp is newer"},
		RunsCode: "it runs Gradle's build scripts",
	}
}
