package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version tells one build from another: module version, revision, toolchain.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	module, revision, modified := info.Main.Version, "", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = " " + setting.Value[:min(12, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			modified = " modified"
		}
	}
	if module == "" {
		module = "(devel)"
	}
	return fmt.Sprintf("%s%s%s %s %s/%s", module, revision, modified, info.GoVersion, runtime.GOOS, runtime.GOARCH)
}
