package langintel

import "github.com/go-json-experiment/json/jsontext"

// yaml serves YAML, with Red Hat's server. It knows one file at a time.
func yaml() Spec {
	return Spec{
		Name: "yaml", Title: "yaml-language-server", FilesOnly: true,
		Languages: []Language{{ID: "yaml", Patterns: []string{"*.yaml", "*.yml"}}},
		Program:   "yaml-language-server", Args: []string{"--stdio"},
		Local:   []string{"node_modules/.bin/yaml-language-server"},
		Install: &Install{NPM: []string{"yaml-language-server@1.25.0"}, Version: "1.25.0"},
		Environment: func(bool) map[string]string {
			return map[string]string{"REDHAT_TELEMETRY_DISABLED": "true"}
		},
		// It asks for several sections from the top.
		Configure: yamlSettings,
		Ready:     Blocks(),
		Fresh:     Pushes(yamlLag),
		Degraded: func(p Project) string {
			if p.Trusted {
				return ""
			}
			return "the workspace is not trusted: schemas that files name in the network are not fetched"
		},
	}
}

func yamlSettings(p Project) (jsontext.Value, error) {
	// The store of schemas is a list in the network, fetched at each start.
	yaml := `"yaml":{"validate":true,"hover":true,"completion":true,"schemaStore":{"enable":false,"url":""},` +
		`"format":{"enable":true},"keyOrdering":false},"[yaml]":{"editor.tabSize":2},"editor":{"tabSize":2}`
	if p.Trusted {
		return jsontext.Value("{" + yaml + "}"), nil
	}
	// A file can name a schema by address. Nothing listens behind this proxy.
	return jsontext.Value(`{"http":{"proxy":"http://127.0.0.1:9","proxyStrictSSL":true},` + yaml + "}"), nil
}
