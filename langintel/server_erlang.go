package langintel

func erlangLanguages() []Language {
	return []Language{{ID: "erlang", Patterns: []string{"*.erl", "*.hrl", "*.escript", "rebar.config", "*.app.src"}}}
}

// elp is WhatsApp's Erlang Language Platform.
func elp() Spec {
	return Spec{
		Name: "elp", Title: "Erlang Language Platform", Group: "erlang",
		Languages: erlangLanguages(),
		Roots:     []string{"rebar.config", "erlang.mk", ".elp.toml"},
		Program:   "elp", Args: []string{"server"},
		Install:  &Install{Hint: "install a release of github.com/WhatsApp/erlang-language-platform"},
		RunsCode: "it has rebar3 load the project, with its plugins and scripts",
	}
}

// erlangLS is its predecessor, which is no longer developed.
func erlangLS() Spec {
	return Spec{
		Name: "erlang-ls", Group: "erlang",
		Languages: erlangLanguages(),
		Roots:     []string{"rebar.config", "erlang.mk", "erlang_ls.config"},
		Program:   "erlang_ls",
		Install:   &Install{Hint: "install a release of github.com/erlang-ls/erlang_ls; elp is newer"},
		RunsCode:  "it compiles the project, and parse transforms are programs",
	}
}
