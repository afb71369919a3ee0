package sqlite

import (
	"path/filepath"

	"golang.org/x/sys/windows"

	"github.com/prism-ls/prism-ls/tools"
)

// refuseNetwork is CodeStateUnavailable where a directory is on another machine.
func refuseNetwork(dir string) error {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	if err != nil {
		return err
	}
	if windows.GetDriveType(root) != windows.DRIVE_REMOTE {
		return nil
	}
	return tools.Errorf(tools.CodeStateUnavailable, "%s is on another machine, where a store is not safe; name a local directory, or a PostgreSQL server", dir)
}
