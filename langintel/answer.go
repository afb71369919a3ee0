package langintel

import (
	"context"
	"errors"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
)

// soften turns the failures that a query reports as a status into an answer;
// everything else stays an error.
func (c *Client) soften(ctx context.Context, server string, err error) (Answer, error) {
	switch {
	case err == nil:
		return Answer{Status: Complete, Server: server, Barrier: BarrierRequest}, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return Answer{}, tools.AsError(context.Canceled)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, tools.CodeTimeout):
		return Answer{Status: TimedOut, Server: server, Reason: "the server did not answer in time" + c.obstacle(server)}, nil
	case errors.Is(err, tools.CodeLSPTimeout): // what was found so far, which is nothing
		return Answer{Status: Partial, Server: server, Reason: printable(tools.AsError(err).Message, 500)}, nil
	case isUnsupported(err):
		return Answer{Status: Unsupported, Server: server, Reason: printable(tools.AsError(err).Message, 500)}, nil
	case faultCode(err) == codeContentModified:
		return Answer{Status: Stale, Server: server, Reason: "the files keep changing while the server answers"}, nil
	}
	return Answer{}, serverError(server, err)
}

// obstacle is what may keep a server from answering, as the end of a sentence.
func (c *Client) obstacle(server string) string {
	i := slices.IndexFunc(c.opts.Servers, func(s Spec) bool { return s.Name == server })
	if i >= 0 {
		if file := c.watch.unreadable(&c.opts.Servers[i]); file != "" {
			return "; it may wait for " + file + ", which is no regular file, for ever"
		}
	}
	return "; asking again may find it ready"
}

// serverError gives an error of a server its code.
func serverError(server string, err error) error {
	if fault, ok := errors.AsType[*rpcError](err); ok {
		return tools.Errorf(tools.CodeLSPServer, "%s: %w", server, fault)
	}
	return tools.AsError(err)
}

// hard is serverError for a change, where a server that is too slow or cannot do
// it is an error.
func hard(ctx context.Context, server string, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return tools.AsError(context.Canceled)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, tools.CodeTimeout):
		return tools.Errorf(tools.CodeLSPTimeout, "%s did not answer in time; nothing was changed", server)
	case faultCode(err) == codeMethodNotFound:
		return tools.Errorf(tools.CodeLSPUnsupported, "%s does not offer that", server)
	case faultCode(err) == codeContentModified, retriggers(err):
		return tools.Errorf(tools.CodeLSPStale, "files changed while %s worked on them; nothing was changed", server)
	}
	return serverError(server, err)
}
