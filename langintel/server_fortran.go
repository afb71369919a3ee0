package langintel

// fortls is the Fortran language server. It would update itself with pip.
func fortls() Spec {
	return Spec{
		Name:      "fortls",
		Languages: []Language{{ID: "fortran", Patterns: []string{"*.f90", "*.F90", "*.f95", "*.F95", "*.f03", "*.F03", "*.f08", "*.F08", "*.f", "*.F", "*.for", "*.FOR"}}},
		Roots:     []string{".fortlsrc", ".fortls.json", ".fortls", "fpm.toml"},
		Program:   "fortls", Args: []string{"--disable_autoupdate", "--hover_signature", "--use_signature_help"},
		Local:   []string{".venv/bin/fortls"},
		Install: &Install{System: []string{"fortran-language-server"}},
		// It has read all files before it answers initialize.
		Ready: Blocks(),
	}
}
