package langintel

// Catalogue returns the servers that the package knows, in order of preference
// where several serve one language. The list is the caller's to change.
func Catalogue() []Spec {
	return []Spec{
		gopls(),
		typescriptLanguageServer(),
		vtsls(),
		tsgo(),
		pyright(),
		basedpyright(),
		clangd(),
		rustAnalyzer(),
		bash(),
		yaml(),
		vscodeJSON(),
		vscodeHTML(),
		vscodeCSS(),
		intelephense(),

		svelte(),
		vue(),
		astro(),
		tailwind(),
		eslint(),
		biome(),
		prisma(),

		phpactor(),
		rubyLSP(),
		solargraph(),
		perlNavigator(),
		lua(),
		rServer(),

		jdtls(),
		kotlinLSP(),
		kotlinLanguageServer(),
		metals(),
		clojure(),
		roslyn(),
		csharpLS(),
		omniSharp(),
		sourceKit(),
		dart(),

		zls(),
		fortls(),
		haskell(),
		ocaml(),
		expert(),
		elixirLS(),
		elp(),
		erlangLS(),
		gleam(),

		buf(),
		terraform(),
		nilServer(),
		nixd(),
		dockerfileServer(),
		neocmake(),
		taplo(),
		tombi(),
		marksman(),
		texlab(),
	}
}
