package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/url"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-ls/prism-ls/tools"
)

// Options are a server's settings. Only Open is required.
type Options struct {
	// Open returns the tools for a workspace root. It is called when a request
	// first needs them; root is "" where the client names none. When it fails,
	// that request fails, and the next one tries again.
	Open func(ctx context.Context, root string) (*tools.Registry, error)
	// Root, if not "", is passed to Open without asking the client.
	Root string
	// Owner is on whose behalf all calls are; "" makes one up. Sessions of one that
	// comes again are its own.
	Owner string
	// Version is told to the client; "" is "devel".
	Version string
	// Structured adds output schemas and structuredContent. Without it the
	// metadata is in _meta alone: some clients show a model only one of the two
	// forms, and content is the one that is written for it.
	Structured bool
	// Logger gets what a person who runs the server should know; nil discards.
	Logger *slog.Logger
}

// Server serves one client.
type Server struct {
	opts    Options
	mcp     *mcp.Server
	session string
	seals   *seals
	calls   sync.WaitGroup // the registry's calls, which may outlast their answer

	opening  chan struct{} // capacity 1: held while registry is being set
	registry *tools.Registry
}

// The protocol versions that are served.
var versions = []string{"2026-07-28", "2025-11-25", "2025-06-18"}

const instructions = "Tools for one code workspace. Paths are relative to its root. " +
	"A failed call's text starts with a stable ERR_PRISM_ code and says what would be right."

// rootsTime is how long a client has to say which root it means.
const rootsTime = 2 * time.Second

// closeTime is how long Serve waits for calls whose client is gone.
const closeTime = time.Second

// New makes a server.
func New(opts *Options) *Server {
	s := &Server{opts: *opts, session: "mcp-" + rand.Text()[:12], seals: newSeals(), opening: make(chan struct{}, 1)}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if s.opts.Owner == "" {
		s.opts.Owner = s.session
	}
	if s.opts.Version == "" {
		s.opts.Version = "devel"
	}
	implementation := &mcp.Implementation{Name: "prism-ls", Title: "prism-ls", Version: s.opts.Version}
	s.mcp = mcp.NewServer(implementation, &mcp.ServerOptions{
		Instructions:              instructions,
		Logger:                    slog.New(atLeast{s.opts.Logger.Handler(), slog.LevelError}),
		Capabilities:              &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SupportedProtocolVersions: versions,
	})
	s.mcp.AddReceivingMiddleware(s.around)
	return s
}

// Serve answers the client until its input ends or ctx is done; what is in
// flight is then cancelled. It returns once every call has ended, or a second
// later.
func (s *Server) Serve(ctx context.Context, conn *Conn) error {
	session, err := s.mcp.Connect(ctx, conn, nil)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, conn.End)
	defer stop()
	err = session.Wait()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.calls.Wait()
	}()
	timeout := time.NewTimer(closeTime)
	defer timeout.Stop()
	select {
	case <-ended:
	case <-timeout.C:
		s.opts.Logger.Warn("calls were still being stopped when the server ended")
	}
	return err
}

// around stands around every request: tools are there before they are listed
// or called, and a panic is an error of its request.
func (s *Server) around(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.opts.Logger.Error("a request panicked", "method", method, "panic", p, "stack", string(debug.Stack()))
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the request failed by a fault of the server"}
			}
		}()
		if method == "tools/list" || method == "tools/call" {
			if err := s.open(ctx, request); err != nil {
				return nil, codedError(jsonrpc.CodeInternalError, tools.AsError(err))
			}
		}
		if call, ok := request.(*mcp.CallToolRequest); ok {
			return s.aroundCall(ctx, call, next)
		}
		return next(ctx, method, request)
	}
}

func (s *Server) aroundCall(ctx context.Context, call *mcp.CallToolRequest, next mcp.MethodHandler) (mcp.Result, error) {
	if s.registry.Tool(call.Params.Name) == nil {
		unknown := s.registry.Call(ctx, call.Params.Name, nil, tools.CallOptions{})
		return nil, codedError(jsonrpc.CodeInvalidParams, unknown.Err)
	}
	ctx, slot := withSlot(ctx)
	result, err := next(ctx, "tools/call", call)
	if err != nil || slot.result == nil {
		return result, err
	}
	return &rawResult{result: slot.result, structured: s.opts.Structured, complete: call.ProtocolVersion() >= versions[0]}, nil
}

// codedError is a protocol error that carries a code of ours.
func codedError(code int64, failure *tools.Error) *jsonrpc.Error {
	data, err := json.Marshal(failure)
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: code, Message: failure.Error(), Data: data}
}

// open sets the registry, once.
func (s *Server) open(ctx context.Context, request mcp.Request) error {
	select {
	case s.opening <- struct{}{}:
		defer func() { <-s.opening }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.registry != nil {
		return nil
	}
	root := s.opts.Root
	if session, ok := request.GetSession().(*mcp.ServerSession); ok && root == "" {
		root = s.clientRoot(ctx, session)
	}
	registry, err := s.opts.Open(ctx, root)
	if err != nil {
		return err
	}
	for _, tool := range registry.Tools() {
		s.mcp.AddTool(s.describe(tool), s.call)
	}
	s.registry = registry
	return nil
}

// clientRoot returns the first root of a client that has roots, else "".
// Stateless clients (2026-07-28) cannot be asked.
func (s *Server) clientRoot(ctx context.Context, session *mcp.ServerSession) string {
	params := session.InitializeParams()
	//lint:ignore SA1019 clients before 2026-07-28 name their workspace this way
	if params == nil || params.Capabilities == nil || params.Capabilities.RootsV2 == nil || params.ProtocolVersion >= versions[0] {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	//lint:ignore SA1019 clients before 2026-07-28 name their workspace this way
	result, err := session.ListRoots(ctx, nil)
	if err != nil {
		s.opts.Logger.Warn("the client did not name its roots; the working directory is the root", "error", err)
		return ""
	}
	for _, root := range result.Roots {
		if path := rootPath(root.URI); path != "" {
			return path
		}
	}
	return ""
}

// rootPath returns the path of a file URI (RFC 8089), or "".
func rootPath(uri string) string {
	parsed, err := url.Parse(uri)
	if err != nil || parsed.Scheme != "file" || parsed.Host != "" && parsed.Host != "localhost" {
		return ""
	}
	path := filepath.FromSlash(parsed.Path)
	if trimmed := strings.TrimPrefix(path, string(filepath.Separator)); filepath.VolumeName(trimmed) != "" {
		path = trimmed // file:///C:/dir
	}
	return path
}

// atLeast passes on only records of a level: the SDK tells of every session.
type atLeast struct {
	slog.Handler
	level slog.Level
}

func (h atLeast) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level && h.Handler.Enabled(ctx, level)
}
