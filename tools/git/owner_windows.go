package git

import "os"

const executableName = "git.exe"

// foreignOwner leaves the question to git itself on Windows.
func foreignOwner(...string) (uid uint32, foreign bool) { return 0, false }

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
