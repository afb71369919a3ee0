package langintel

// lua is LuaLS. A plugin that .luarc.json names is loaded only after it has asked,
// and its question is not answered.
func lua() Spec {
	return Spec{
		Name:      "lua-language-server",
		Languages: []Language{{ID: "lua", Patterns: []string{"*.lua"}}},
		Roots:     []string{".luarc.json", ".luarc.jsonc", ".luacheckrc", "stylua.toml", ".stylua.toml", "selene.toml"},
		Program:   "lua-language-server",
		Install:   &Install{Hint: "`brew install lua-language-server`, or a release of github.com/LuaLS/lua-language-server, installs it"},
		Section:   "Lua",
		// checkThirdParty asks at each start whether to take in other libraries.
		Settings: []byte(`{"telemetry":{"enable":false},"workspace":{"checkThirdParty":false}}`),
	}
}
