//go:build unix

package child

import "os"

// executable reports whether path is a file that somebody may execute.
func executable(path string) (string, bool) {
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
