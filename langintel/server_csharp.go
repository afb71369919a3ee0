package langintel

const msbuildRuns = "it has MSBuild evaluate the project, which runs its targets"

func csharpLanguages() []Language {
	return []Language{{ID: "csharp", Patterns: []string{"*.cs", "*.csx"}}}
}

// roslyn is Microsoft's server as a tool of the .NET SDK. autoLoadProjects has it
// find solutions by itself, which its clients otherwise have to name.
func roslyn() Spec {
	return Spec{
		Name: "roslyn-language-server", Group: "csharp",
		Languages: csharpLanguages(),
		Program:   "roslyn-language-server", Args: []string{"--stdio", "--autoLoadProjects"},
		Install:  &Install{Hint: "`dotnet tool install --global roslyn-language-server --prerelease` installs it"},
		RunsCode: msbuildRuns,
		Ready:    AfterNotification("workspace/projectInitializationComplete"),
	}
}

// csharpLS finds solutions in its working directory.
func csharpLS() Spec {
	return Spec{
		Name: "csharp-ls", Group: "csharp",
		Languages: csharpLanguages(),
		Program:   "csharp-ls",
		Install:   &Install{Hint: "`dotnet tool install --global csharp-ls` installs it"},
		RunsCode:  msbuildRuns,
	}
}

// omniSharp is the oldest. -z makes positions count from zero, as LSP does.
func omniSharp() Spec {
	return Spec{
		Name: "omnisharp", Group: "csharp",
		Languages: csharpLanguages(),
		Program:   "omnisharp", Aliases: []string{"OmniSharp"},
		Args:     []string{"-z", "DotNet:enablePackageRestore=false", "--encoding", "utf-8", "--languageserver"},
		Install:  &Install{Hint: "install a release of github.com/OmniSharp/omnisharp-roslyn; csharp-ls is simpler"},
		RunsCode: msbuildRuns,
	}
}
