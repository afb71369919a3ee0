package logfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestFileStaysSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log", "prism-ls.log")
	files := []*File{New(path), New(path)} // as two processes have it
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("something was made before the first write")
	}
	line := append(bytes.Repeat([]byte{'x'}, 999), '\n')
	var writers sync.WaitGroup
	for _, file := range files {
		writers.Go(func() {
			for range 6 << 10 { // 12 MB in all
				if _, err := file.Write(line); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	for _, file := range files {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
	found, err := filepath.Glob(path + "*")
	if err != nil || len(found) != 1+kept {
		t.Errorf("%q, %v", found, err)
	}
	for _, name := range found {
		text, err := os.ReadFile(name)
		if err != nil || len(text) > 2*maxBytes || len(text)%len(line) != 0 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if _, err := os.Stat(fmt.Sprintf("%s.%d", path, kept+1)); err == nil {
		t.Error("an older file was kept")
	}
}

func TestFileNeverFails(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := New(filepath.Join(blocked, "x", "log")).Write([]byte("lost\n")); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
