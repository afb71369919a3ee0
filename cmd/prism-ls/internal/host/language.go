package host

import (
	"context"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

// openLanguage makes the client of the language servers, none of which starts
// before a question needs it, and the tools that ask them.
func (s *Shared) openLanguage() error {
	progress := builtin.NewLSPProgress()
	opts := &langintel.Options{
		Env: environment(s.cfg), Trusted: s.cfg.Trusted, Git: s.git,
		Progress: progress.Tell, Logger: s.log,
	}
	if err := s.cfg.Language.Options(opts); err != nil {
		return err
	}
	if s.cfg.StateDir != "" {
		opts.ServerDir = s.cfg.ServerDir()
	}
	client, err := langintel.New(s.files, s.owner, opts)
	if err != nil {
		return err
	}
	s.language = client
	s.languageTools, err = builtin.Language(client, progress)
	return err
}

func (s *Shared) languageToolset() ([]*tools.Tool, error) { return s.languageTools, nil }

// filesChanged tells the language servers at once what a tool has changed.
func (s *Shared) filesChanged(event tools.Event) {
	if event.Kind != tools.EventFileChanged {
		return
	}
	if err := s.language.Changed(context.Background(), event.Paths...); err != nil {
		s.log.Debug("the language servers were not told of a change", "paths", event.Paths, "error", err)
	}
}
