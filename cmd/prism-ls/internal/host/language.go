package host

import (
	"context"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

// languageTools makes the client of the language servers; none of them starts
// before a question needs it.
func (h *Host) languageTools() ([]*tools.Tool, error) {
	progress := builtin.NewLSPProgress()
	opts := &langintel.Options{
		Env: h.environment(), Trusted: h.cfg.Trusted, Git: h.git,
		Progress: progress.Tell, Logger: h.log,
	}
	if err := h.cfg.Language.Options(opts); err != nil {
		return nil, err
	}
	if h.cfg.StateDir != "" {
		opts.ServerDir = h.cfg.ServerDir()
	}
	client, err := langintel.New(h.files, h.owner, opts)
	if err != nil {
		return nil, err
	}
	h.language = client
	return builtin.Language(client, progress)
}

// Language is the client of the language servers.
func (h *Host) Language() *langintel.Client { return h.language }

// dependency knows the files outside of the workspace that an answer of a
// language server has named.
func (h *Host) dependency(path string) (absolute string, ok bool) {
	if h.language == nil {
		return "", false
	}
	return h.language.Dependency(path)
}

// filesChanged tells the language servers at once what a tool has changed.
func (h *Host) filesChanged(event tools.Event) {
	if event.Kind != tools.EventFileChanged || h.language == nil {
		return
	}
	if err := h.language.Changed(context.Background(), event.Paths...); err != nil {
		h.log.Debug("the language servers were not told of a change", "paths", event.Paths, "error", err)
	}
}
