//go:build unix

package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// server is a real PostgreSQL of this test run alone, on a socket in a directory of
// its own.
type server struct {
	dir, data string
	as        *syscall.Credential // it refuses to be root
	programs  string
	process   *exec.Cmd
	ended     chan struct{}
	schemas   atomic.Int64
}

// started is the one that all tests share; it is stopped by TestMain.
var started struct {
	once sync.Once
	*server
	err error
}

// programsAt are where postgres and initdb are looked for, the pinned version first.
func programsAt() string {
	for _, pattern := range []string{"/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin"} {
		found, _ := filepath.Glob(filepath.Join(pattern, "initdb"))
		if len(found) > 0 {
			return filepath.Dir(found[len(found)-1])
		}
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	return ""
}

// theServer is there, or the test is skipped; with CI=true it fails.
func theServer(t testing.TB) *server {
	t.Helper()
	started.once.Do(func() { started.server, started.err = startServer() })
	if started.err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(started.err)
		}
		t.Skip(started.err)
	}
	return started.server
}

func startServer() (*server, error) {
	s := &server{programs: programsAt()}
	if s.programs == "" {
		return nil, fmt.Errorf("there is no PostgreSQL here; `make setup` installs it")
	}
	// The path of a socket may have 107 bytes (unix(7)), and another user has to get there.
	dir, err := os.MkdirTemp("/tmp", "prism-pg-")
	if err != nil {
		return nil, err
	}
	s.dir, s.data = dir, filepath.Join(dir, "data")
	if os.Getuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	if out, err := s.command("initdb", "-D", s.data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	// As little as may be: no superuser, nothing but its own schemas.
	return s, s.administer("CREATE ROLE prism LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE")
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.programs, name), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = endsWithUs(s.as)
	return cmd
}

// start starts the server, and waits until it answers.
func (s *server) start() error {
	s.process = s.command("postgres", "-D", s.data, "-k", s.dir, "-c", "listen_addresses=", "-c", "max_connections=200", "-c", "log_min_messages=fatal")
	s.ended = make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // it ends with the thread that started it (prctl(2))
		failed <- s.process.Start()
		_ = s.process.Wait()
		close(s.ended)
	}()
	if err := <-failed; err != nil {
		return err
	}
	var err error
	for range 300 {
		if err = s.administer("SELECT 1"); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("the server does not answer: %w", err)
}

// stop has the server end at once, as a crash would.
func (s *server) stop() {
	_ = s.process.Process.Signal(syscall.SIGQUIT)
	<-s.ended
}

func (s *server) dsn(role string) string {
	return fmt.Sprintf("host=%s user=%s dbname=postgres sslmode=disable", s.dir, role)
}

// administer runs one statement as the superuser.
func (s *server) administer(statement string) error {
	db, err := sql.Open("pgx", s.dsn("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err = db.ExecContext(ctx, statement)
	return err
}

// fresh is the DSN of a new schema.
func (s *server) fresh(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("place%d", s.schemas.Add(1))
	if err := s.administer("CREATE SCHEMA " + name + " AUTHORIZATION prism"); err != nil {
		t.Fatal(err)
	}
	return s.dsn("prism") + " search_path=" + name
}
