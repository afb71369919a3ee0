package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// Options say what to show, and how to reach it.
type Options struct {
	// Source is the workspace to copy; it is only read.
	Source *workspace.Workspace
	// Files lists the files of the source, relative to its root.
	Files func(ctx context.Context) ([]string, error)
	// Scratch is the empty directory for the copy.
	Scratch string
	// Open makes the registry of tools for the copy, once it is there.
	Open func(root string) (registry *tools.Registry, close func() error, err error)
	// Out gets the story.
	Out io.Writer
	// Progress is told what a slow step waits for; nil: nobody is.
	Progress func(tools.Progress)
}

// show is a running demonstration.
type show struct {
	Options
	ctx      context.Context
	registry *tools.Registry
	steps    int
	began    time.Time
}

// Run copies and shows. An error is a step that did not do what it
// should have.
func Run(ctx context.Context, opts Options) (err error) {
	s := &show{Options: opts, ctx: ctx, began: time.Now()}
	copied, err := s.copySource()
	if err != nil {
		return err
	}
	s.printf("A scratch copy of %s: %d files, %.1f MB. The original is only read.\n", s.Source.Root(), copied.files, float64(copied.bytes)/1e6)
	registry, closeRegistry, err := s.Open(s.Scratch)
	if err != nil {
		return err
	}
	s.registry = registry
	defer func() {
		if closeErr := closeRegistry(); err == nil {
			err = closeErr
		}
	}()
	if err := s.loop(); err != nil {
		return err
	}
	s.printf("\nDone in %s. Nothing but the scratch copy was changed.\n", round(time.Since(s.began)))
	return nil
}

// loop is the job itself.
func (s *show) loop() error {
	before, err := digest(s.Scratch)
	if err != nil {
		return err
	}
	found, err := s.find()
	if err != nil {
		return err
	}
	undoID, err := s.rename(found)
	if err != nil {
		return err
	}
	if err := s.build(); err != nil {
		return err
	}
	if err := s.mistake(found); err != nil {
		return err
	}
	if err := s.undo("take the rename back", undoID); err != nil {
		return err
	}
	after, err := digest(s.Scratch)
	if err != nil {
		return err
	}
	if before != after {
		return tools.Errorf(tools.CodeInternal, "after undo the copy is not what it was before the rename")
	}
	s.printf("     every file is as it was before, byte for byte\n")
	return nil
}

// call makes one tool call, fills metadata with what it returns, and says how
// long it took.
func (s *show) call(tool string, input, metadata any) (*tools.Result, time.Duration, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, 0, err
	}
	start := time.Now()
	result := s.registry.Call(s.ctx, tool, text, tools.CallOptions{Session: "demo", Owner: "demo", Progress: s.Progress})
	took := time.Since(start)
	if result.Err != nil {
		return result, took, result.Err
	}
	return result, took, json.Unmarshal(result.Metadata, metadata)
}

// step is a call with its title.
func (s *show) step(title, tool string, input, metadata any) (*tools.Result, error) {
	result, took, err := s.call(tool, input, metadata)
	s.title(title, tool, took)
	return result, err
}

func (s *show) title(text, tool string, took time.Duration) {
	s.steps++
	s.printf("\n%d  %-34s %-16s %8s\n", s.steps, text, tool, round(took))
}

func (s *show) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.Out, format, args...) // a closed terminal ends the program by itself
}

func round(d time.Duration) time.Duration {
	if d < 100*time.Millisecond {
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(10 * time.Millisecond)
}
