package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
)

const (
	// startTime is how long a client waits for a daemon that it starts, or that is
	// ending, before it does without.
	startTime = 8 * time.Second
	// answerTime is how long a daemon has to answer a client's first line. It may
	// have to open a workspace for that.
	answerTime = 8 * time.Second
)

// Dialer connects clients of one workspace.
type Dialer struct {
	// Config is the client's: workspace and directories.
	Config *config.Config
	// Build tells this program from others.
	Build string
	// Start starts a daemon and returns at once; nil uses only one that is there.
	Start func() error
}

// Unavailable says why there is no daemon for a client, which then does without.
type Unavailable struct {
	Reason string
	// Quiet: that is as it should be, and nothing to tell a person of.
	Quiet bool
	Err   error
}

func (u *Unavailable) Error() string { return u.Reason }

// Unwrap returns the cause.
func (u *Unavailable) Unwrap() error { return u.Err }

// link is an open connection that the daemon has welcomed.
type link struct {
	conn   *net.UnixConn
	in     *bufio.Reader
	status Status
	owner  string
}

var (
	// errGone is a daemon that ended before it answered.
	errGone = errors.New("the daemon has ended")
	// The process at the other end is not one to talk to.
	errOtherUser = errors.New("it belongs to another user")
	errConfined  = errors.New("it is confined in another way")
	// errUnsafe is a directory in which another user could put a socket.
	errUnsafe = errors.New("it is not a directory of this user's alone (mode 0700, no symbolic link)")
)

// connect reaches the daemon, starting it if need be.
func (d *Dialer) connect(ctx context.Context, said hello) (*link, error) {
	said.Protocol, said.Build = protocol, d.Build
	text, err := json.Marshal(said)
	if err != nil {
		return nil, err
	}
	if !d.plain(said.Client) {
		return nil, &Unavailable{Reason: "a path or variable is not UTF-8", Quiet: true}
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	started := time.Time{}
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		found, err := d.attempt(ctx, text)
		if !errors.Is(err, errGone) {
			return found, err
		}
		if d.Start == nil {
			return nil, &Unavailable{Reason: "no daemon serves this workspace", Quiet: true, Err: err}
		}
		if started.IsZero() || time.Since(started) > startTime/4 { // one that was started may have met the end of another
			if err := d.start(); err != nil {
				return nil, err
			}
			started, wait = time.Now(), time.Millisecond
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, &Unavailable{Reason: fmt.Sprintf("the daemon of this workspace could not be started within %s; %s may say why", startTime, d.Config.LogFile()), Err: ctx.Err()}
		}
	}
}

// plain reports whether JSON can hold what the daemon has to know.
func (d *Dialer) plain(settings *Settings) bool {
	if settings == nil {
		return true
	}
	for _, entry := range settings.System.Environ {
		if !utf8.ValidString(entry) {
			return false
		}
	}
	return utf8.ValidString(d.Config.Root) && utf8.ValidString(d.Config.StateDir)
}

// start starts a daemon, if there is a place where it could listen.
func (d *Dialer) start() error {
	err := d.Place()
	var none *Unavailable
	switch {
	case errors.As(err, &none):
		return none
	case err != nil:
		return &Unavailable{Reason: "there is no place for the daemon's socket: " + err.Error(), Quiet: !errors.Is(err, errUnsafe), Err: err}
	}
	if err := d.Start(); err != nil {
		return &Unavailable{Reason: "the daemon could not be started: " + err.Error(), Err: err}
	}
	return nil
}

// attempt looks for a daemon in every place. errGone means that there is none, or
// none any more.
func (d *Dialer) attempt(ctx context.Context, text []byte) (*link, error) {
	places, err := everywhere(d.Config)
	var none *Unavailable
	switch {
	case errors.As(err, &none):
		return nil, none
	case err != nil:
		return nil, &Unavailable{Reason: "the daemon is not used: " + err.Error(), Err: err}
	}
	defer func() {
		for _, at := range places {
			at.close()
		}
	}()
	for _, at := range places {
		conn, err := at.dial(ctx)
		switch {
		case errors.Is(err, os.ErrPermission):
			return nil, forbidden(err)
		case err != nil:
			continue // nobody listens there
		}
		found, err := greetDaemon(ctx, conn, text)
		if err == nil {
			return found, nil
		}
		_ = conn.Close()
		if !errors.Is(err, errGone) {
			return nil, err
		}
	}
	return nil, errGone
}

// forbidden is for a process that is kept from connecting to anything, as in a
// sandbox, though the file would allow it.
func forbidden(err error) error {
	return &Unavailable{Reason: "this process may not connect to a socket", Quiet: true, Err: err}
}

// greetDaemon checks who listens, says the first line, and reads the answer.
func greetDaemon(ctx context.Context, conn *net.UnixConn, text []byte) (*link, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	listener, err := checkPeer(conn)
	switch {
	case errors.Is(err, errOtherUser), errors.Is(err, errConfined):
		return nil, &Unavailable{Reason: "the daemon is not used: " + err.Error(), Quiet: true, Err: err}
	case err != nil:
		return nil, errGone
	}
	listener.close()
	_ = conn.SetDeadline(time.Now().Add(answerTime)) // a socket takes deadlines
	if _, err := conn.Write(append(text, '\n')); err != nil {
		return nil, gone(err)
	}
	in := bufio.NewReaderSize(conn, 64<<10)
	var got welcome
	if err := readLine(in, &got); err != nil {
		return nil, gone(err)
	}
	if err := got.failure(); err != nil {
		return nil, err
	}
	if !stop() { // the deadline of the end may be set already
		return nil, ctx.Err()
	}
	_ = conn.SetDeadline(time.Time{})
	return &link{conn, in, got.Status, got.Owner}, nil
}

// gone tells a daemon that ended from one that does not answer.
func gone(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &Unavailable{Reason: fmt.Sprintf("the daemon has not answered for %s", answerTime), Err: err}
	}
	return errGone
}

// failure is why the daemon does not serve this client, or nil.
func (w *welcome) failure() error {
	switch w.Refused {
	case "":
		return nil
	case refusedLeaving:
		return errGone
	case refusedPeer:
		return &Unavailable{Reason: "the daemon does not serve this process, which is confined in another way", Quiet: true}
	case refusedSettings:
		if w.Error != nil {
			return w.Error.err()
		}
	case refusedBuild, refusedProtocol:
		return &Unavailable{Reason: fmt.Sprintf("the daemon of this workspace (process %d) is another build, and still serves %s; it ends after that", w.Status.PID, w.Status.needs())}
	}
	return &Unavailable{Reason: fmt.Sprintf("the daemon refused (%s)", w.Refused)}
}

// needs says who needs the daemon.
func (s *Status) needs() string {
	if s.Clients == 0 {
		return fmt.Sprintf("%d process sessions", s.Sessions)
	}
	return fmt.Sprintf("%d clients", s.Clients)
}

// Person opens a connection that the daemon's Options.Person serves. An error is
// an [Unavailable], or says why this process is no person's.
func (d *Dialer) Person(ctx context.Context) (io.ReadWriteCloser, error) {
	found, err := d.connect(ctx, hello{Kind: kindPerson})
	if err != nil {
		return nil, err
	}
	return &attached{found.conn, found.in}, nil
}

// Find returns what the daemon says of itself, or ok = false where there is none.
func (d *Dialer) Find(ctx context.Context) (status Status, ok bool, err error) {
	found, err := d.connect(ctx, hello{Kind: kindStatus})
	if absent(err) {
		return Status{}, false, nil
	}
	if err != nil {
		return Status{}, false, err
	}
	defer found.conn.Close()
	return found.status, true, nil
}

// Place says why a daemon could not listen anywhere, or not be reached where it
// would, or nil.
func (d *Dialer) Place() error {
	at, err := choose(d.Config)
	if err != nil {
		return err
	}
	defer at.close()
	conn, err := at.dial(context.Background())
	switch {
	case errors.Is(err, os.ErrPermission):
		return forbidden(err)
	case err == nil: // somebody has started one meanwhile
		return conn.Close()
	}
	return nil
}

// Stop ends the daemon and all that it runs, and waits until that is done. ok is
// false where there was none.
func (d *Dialer) Stop(ctx context.Context) (status Status, ok bool, err error) {
	found, err := d.connect(ctx, hello{Kind: kindStop})
	if absent(err) {
		return Status{}, false, nil
	}
	if err != nil {
		return Status{}, false, err
	}
	defer found.conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = found.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	for buffer := make([]byte, 512); ; { // until its process has ended
		if _, err := found.in.Read(buffer); err != nil {
			if ctx.Err() != nil {
				return found.status, true, ctx.Err()
			}
			return found.status, true, nil
		}
	}
}

// absent reports whether an error says that there is no daemon.
func absent(err error) bool {
	var none *Unavailable
	return errors.As(err, &none) && errors.Is(none, errGone) || errors.Is(err, syscall.ENOENT)
}
