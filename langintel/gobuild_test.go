package langintel

import "testing"

func TestGoExcluded(t *testing.T) {
	for _, c := range []struct {
		name, source string
		excluded     bool
	}{
		{"a.go", "package a\n", false},
		{"a_test.go", "package a\n", false},
		{"a_linux.go", "package a\n", false},
		{"a_windows.go", "package a\n", true},
		{"a_windows_test.go", "package a\n", true},
		{"a_arm64.go", "package a\n", true},
		{"a_linux_amd64.go", "package a\n", false},
		{"a_windows_amd64.go", "package a\n", true},
		{"windows.go", "package a\n", false}, // the system must stand behind something
		{"a_unix.go", "package a\n", false},
		{"a_other.go", "// Some words.\n\n//go:build !linux\n\npackage a\n", true},
		{"a.go", "//go:build unix && !darwin\n\npackage a\n", false},
		{"a.go", "//go:build windows || integration\n\npackage a\n", false}, // a host may set the tag
		{"a.go", "//go:build windows && integration\n\npackage a\n", true},
		{"a.go", "//go:build !integration\n\npackage a\n", false},
		{"a.go", "//go:build ignore\n\npackage main\n", true},
		{"a.go", "package a\n\n//go:build windows\n", false}, // too late to count
		{"go.mod", "module a\n", false},
	} {
		reason := goExcluded([]string{"GOOS=linux", "GOARCH=amd64"}, "dir/"+c.name, []byte(c.source))
		if (reason != "") != c.excluded {
			t.Errorf("%s %q: %q", c.name, c.source, reason)
		}
	}
}
