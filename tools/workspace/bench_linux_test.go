package workspace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// bareWrite is the least a durable replacement takes: temporary file, fsync,
// rename, fsync of the directory.
func bareWrite(t testing.TB, dir, name string, data []byte) {
	temp := filepath.Join(dir, name+".tmp")
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	must(t, err)
	_, err = file.Write(data)
	must(t, err)
	must(t, file.Sync())
	must(t, file.Close())
	must(t, os.Rename(temp, filepath.Join(dir, name)))
	must(t, syncPath(dir))
}

// editSizes are the sizes of the durable edits that are measured.
var editSizes = []struct {
	name  string
	bytes int
}{{"1MB", 1_000_000}, {"8MiB", 8 << 20}}

// BenchmarkDurableEdit reads a file, changes one byte and writes it: beside the
// bare durable write of the same bytes, in turns. The metric "ratio" is the
// one between them.
func BenchmarkDurableEdit(b *testing.B) {
	for _, size := range editSizes {
		b.Run(size.name, func(b *testing.B) {
			f := newFixture(b)
			data := bytes.Repeat([]byte("0123456789abcde\n"), size.bytes/16)
			f.file("edited", string(data))
			f.file("bare", string(data))
			var edit, bare time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				_, err := f.transact(func(tx *Tx, p []Path) error {
					content, err := tx.Read(p[0], 1<<30)
					if err != nil {
						return err
					}
					content.Data[i%len(data)] ^= 1
					return tx.Write(p[0], content.Data, nil)
				}, "edited")
				must(b, err)
				middle := time.Now()
				bareWrite(b, f.root, "bare", data)
				edit += middle.Sub(start)
				bare += time.Since(middle)
			}
			b.ReportMetric(edit.Seconds()*1e3/float64(b.N), "edit-ms")
			b.ReportMetric(bare.Seconds()*1e3/float64(b.N), "bare-ms")
			b.ReportMetric(edit.Seconds()/bare.Seconds(), "ratio")
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	f := newFixture(b)
	f.file("a/b/c/file", "x")
	p := f.paths("a/b/c/file")[0]
	plain := filepath.Join(f.root, "a/b/c/file")
	close := func(file *os.File, err error) {
		must(b, err)
		file.Close()
	}
	b.Run("contained", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			file, _, err := f.w.OpenFile(p)
			close(file, err)
		}
	})
	b.Run("walk", func(b *testing.B) {
		f.w.noOpenat2.Store(true)
		defer f.w.noOpenat2.Store(false)
		for b.Loop() {
			file, _, err := f.w.OpenFile(p)
			close(file, err)
		}
	})
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			file, err := os.Open(plain)
			close(file, err)
		}
	})
	b.Run("os.Root", func(b *testing.B) {
		root, err := os.OpenRoot(f.root)
		must(b, err)
		defer root.Close()
		for b.Loop() {
			file, err := root.Open("a/b/c/file")
			close(file, err)
		}
	})
	b.Run("OpenAt", func(b *testing.B) {
		b.ReportAllocs()
		dir, err := f.w.OpenDirFD(f.paths("a/b/c")[0])
		must(b, err)
		defer unix.Close(dir)
		var st syscall.Stat_t
		for b.Loop() {
			fd, err := OpenAt(dir, "file", &st)
			must(b, err)
			unix.Close(fd)
		}
	})
}

func BenchmarkTransactionOf20Files(b *testing.B) {
	f := newFixture(b)
	names := make([]string, 20)
	for i := range names {
		names[i] = fmt.Sprintf("f%d", i)
		f.file(names[i], "old")
	}
	for b.Loop() {
		_, err := f.transact(func(tx *Tx, p []Path) error {
			for _, p := range p {
				if err := tx.Write(p, []byte("new"), nil); err != nil {
					return err
				}
			}
			return nil
		}, names...)
		must(b, err)
	}
}
