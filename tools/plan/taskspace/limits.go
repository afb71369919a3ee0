package taskspace

import (
	"fmt"

	"github.com/prism-ls/prism-ls/tools"
)

// The bounds of task workspaces.
var (
	// RepositoryLimit bounds the repositories of one workspace.
	RepositoryLimit = tools.Limit{Name: "repositories", Default: 4, Hard: 16}
	// WorktreeLimit bounds the work trees that all workspaces have of one repository.
	WorktreeLimit = tools.Limit{Name: "worktrees", Default: 4, Hard: 16}
	// RecordBytes bounds the record of one workspace.
	RecordBytes = tools.Limit{Name: "recordBytes", Default: 64 << 10, Hard: 256 << 10}
	// CleanupSteps bounds what one cleanup does: each time that something is moved,
	// saved, unlocked or removed. What is left over is for the next one.
	CleanupSteps = tools.Limit{Name: "cleanupSteps", Default: 100, Hard: 1000}
	// ArtifactReferences bounds the artifacts that one workspace names, saved and
	// attached.
	ArtifactReferences = tools.Limit{Name: "artifactReferences", Default: 16, Hard: 64}
	// SavedFiles bounds the files that one work tree's cleanup saves.
	SavedFiles = tools.Limit{Name: "savedFiles", Default: 10_000, Hard: 100_000}
	// SavedCommits bounds the commits that one work tree's cleanup saves.
	SavedCommits = tools.Limit{Name: "savedCommits", Default: 1000, Hard: 10_000}
	// PatchBytes bounds the patch that shows a person what a cleanup saved.
	PatchBytes = tools.Limit{Name: "patchBytes", Default: 16 << 20, Hard: 64 << 20}
	// WaitSeconds bounds the wait for somebody else who is at work on the workspace.
	// The default is longer than a lease, so that a holder which has crashed is outlived.
	WaitSeconds = tools.Limit{Name: "waitSeconds", Default: 40, Hard: 310}
)

// Limits are a host's choice within the bounds; zero fields are the defaults.
type Limits struct {
	Repositories, Worktrees, RecordBytes, CleanupSteps, ArtifactReferences, SavedFiles, SavedCommits, PatchBytes, WaitSeconds int64
}

// resolve puts in the defaults, and refuses what is beyond the caps.
func (l Limits) resolve() (Limits, error) {
	for _, field := range []struct {
		value *int64
		limit tools.Limit
	}{
		{&l.Repositories, RepositoryLimit}, {&l.Worktrees, WorktreeLimit}, {&l.RecordBytes, RecordBytes}, {&l.CleanupSteps, CleanupSteps},
		{&l.ArtifactReferences, ArtifactReferences}, {&l.SavedFiles, SavedFiles}, {&l.SavedCommits, SavedCommits}, {&l.PatchBytes, PatchBytes}, {&l.WaitSeconds, WaitSeconds},
	} {
		value, err := field.limit.Option(*field.value)
		if err != nil {
			return l, err
		}
		*field.value = value
	}
	return l, nil
}

// over is the error of a bound that is met.
func over(what string, got, most int64) error {
	return tools.Errorf(tools.CodeWorkspaceLimit, "%s: %d, at most %d are taken", what, got, most)
}

// plural counts things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
