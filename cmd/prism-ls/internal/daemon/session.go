package daemon

import (
	"bufio"
	"context"
	"errors"
	"net"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/mcpserver"
	"github.com/prism-ls/prism-ls/tools"
)

// session is one connection, once its client has said who it is.
type session struct {
	daemon *Daemon
	conn   *net.UnixConn
	in     *bufio.Reader
	out    *lines
	peer   *peer
	hello  *hello
}

func (s *session) run(ctx context.Context) error {
	switch s.hello.Kind {
	case kindStatus:
		return s.out.send(welcome{Protocol: protocol, Status: s.daemon.status()})
	case kindStop:
		return s.stop()
	}
	if refused := s.daemon.enter(s.hello); refused != "" {
		return s.refuse(refused, nil)
	}
	defer s.daemon.exit()
	if s.hello.Kind == kindPerson {
		return s.person(ctx)
	}
	if s.hello.Client == nil || (s.hello.Kind == kindCall) != (s.hello.Call != nil) {
		return s.refuse(refusedProtocol, nil)
	}
	cfg, err := s.load()
	if err != nil {
		return s.refuse(refusedSettings, err)
	}
	s.daemon.adopt(cfg.DaemonIdle())
	used, err := s.daemon.parts.take(cfg)
	if err != nil {
		return s.refuse(refusedSettings, err)
	}
	defer s.daemon.parts.leave(used)
	open := used.shared.Agent
	if s.hello.Kind == kindCall {
		open = used.shared.CommandLine
	}
	client, err := open(cfg, s.daemon.opts.Logger)
	if err != nil {
		return s.refuse(refusedSettings, err)
	}
	err = s.serve(ctx, cfg, client)
	return errors.Join(err, client.Close())
}

// load reads the configuration as this client would. Its flags may narrow and
// widen as they do without a daemon: whoever gives them could run it without.
func (s *session) load() (*config.Config, error) {
	cfg, err := config.Load(s.hello.Client.System, s.hello.Client.Flags)
	if err != nil {
		return nil, err
	}
	ours := s.daemon.opts.Config
	if cfg.Root != ours.Root || cfg.StateDir != ours.StateDir {
		return nil, tools.Errorf(tools.CodeInternal, "this is the daemon of %s with the state in %s", ours.Root, ours.StateDir)
	}
	return cfg, nil
}

func (s *session) refuse(why refusal, err error) error {
	return s.out.send(welcome{Protocol: protocol, Refused: why, Error: failOf(tools.AsError(err)), Status: s.daemon.status()})
}

// stop has the daemon end. The connection stays open until all has ended, which
// is what the client waits for.
func (s *session) stop() error {
	err := s.out.send(welcome{Protocol: protocol, Status: s.daemon.status()})
	kept, copyErr := s.conn.File() // closed with the process
	if copyErr == nil {
		s.daemon.keep(kept)
	}
	s.daemon.stop()
	return err
}

// person serves a person's own command. Nothing that prism-ls started is one.
func (s *session) person(ctx context.Context) error {
	if err := s.peer.notOurs(); err != nil {
		return s.refuse(refusedSettings, err)
	}
	if s.daemon.opts.Person == nil {
		return s.refuse(refusedProtocol, nil)
	}
	if err := s.out.send(welcome{Protocol: protocol, Status: s.daemon.status()}); err != nil {
		return err
	}
	return s.daemon.opts.Person(ctx, &attached{s.conn, s.in}, s.daemon.parts.sessions)
}

func (s *session) serve(ctx context.Context, cfg *config.Config, client *host.Host) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hello := welcome{Protocol: protocol, Status: s.daemon.status()}
	if s.hello.Kind == kindMCP {
		owner, leave := s.daemon.owners.take(s.peer.starter(), s.hello.Client.Owner)
		defer leave()
		hello.Owner = owner
	}
	if err := s.out.send(hello); err != nil {
		return err
	}
	if s.hello.Kind == kindCall {
		return s.call(ctx, client.Registry())
	}
	logger := s.daemon.opts.Logger
	conn := mcpserver.NewConn(s.in, s.conn, logger)
	unwatch, err := watchHangup(s.conn, conn.End)
	if err != nil {
		return err
	}
	defer unwatch()
	server := mcpserver.New(&mcpserver.Options{
		Owner:   hello.Owner,
		Open:    func(context.Context, string) (*tools.Registry, error) { return client.Registry(), nil },
		Root:    cfg.Root,
		Version: s.daemon.opts.Version, Structured: s.hello.Client.Structured, Logger: logger,
	})
	return server.Serve(ctx, conn)
}
