package filelock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func TestOneHolderAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, second := open(t, path), open(t, path)
	if ok, err := Try(first); !ok || err != nil {
		t.Fatalf("a free lock: %v %v", ok, err)
	}
	if ok, err := Try(second); ok || err != nil {
		t.Fatalf("a taken lock: %v %v", ok, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := Wait(ctx, second); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("waiting past the deadline: %v", err)
	}
	if err := Release(first); err != nil {
		t.Fatal(err)
	}
	if err := Wait(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if ok, err := Try(first); !ok || err != nil {
		t.Fatalf("after the holder closed its file: %v %v", ok, err)
	}
}
