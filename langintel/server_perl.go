package langintel

// perlNavigator compiles files with perl to find what is wrong with them.
func perlNavigator() Spec {
	return Spec{
		Name: "perlnavigator", Title: "PerlNavigator",
		Languages: []Language{{ID: "perl", Patterns: []string{"*.pl", "*.pm", "*.t", "*.psgi"}}},
		Program:   "perlnavigator", Args: []string{"--stdio"},
		Install:  &Install{Hint: "install a release of github.com/bscan/PerlNavigator"},
		RunsCode: "perl runs BEGIN blocks as it compiles a file",
	}
}
