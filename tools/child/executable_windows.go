package child

import "os"

// executable reports whether path, or path with one of the usual extensions,
// is a file that can be run.
func executable(path string) (string, bool) {
	for _, extension := range []string{"", ".exe", ".cmd", ".bat", ".com"} {
		info, err := os.Stat(path + extension)
		if err == nil && info.Mode().IsRegular() {
			return path + extension, true
		}
	}
	return "", false
}
