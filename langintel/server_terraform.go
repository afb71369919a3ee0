package langintel

// terraform is HashiCorp's server. What it knows of providers it has terraform
// tell.
func terraform() Spec {
	return Spec{
		Name: "terraform-ls",
		Languages: []Language{
			{ID: "terraform", Patterns: []string{"*.tf"}},
			{ID: "terraform-vars", Patterns: []string{"*.tfvars"}},
		},
		Roots:   []string{".terraform", ".terraform.lock.hcl"},
		Program: "terraform-ls", Args: []string{"serve"},
		Install:  &Install{Hint: "`brew install hashicorp/tap/terraform-ls`, or a release of github.com/hashicorp/terraform-ls, installs it"},
		RunsCode: "terraform runs the providers that lie in .terraform",
		Degraded: func(p Project) string {
			if p.Has(".terraform") {
				return ""
			}
			return "there is no .terraform here: providers' resources are unknown; run: terraform init"
		},
	}
}
