package builtin

import (
	"context"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

type rejectIf string

// Values lists what a rename can be taken back for.
func (rejectIf) Values() []string { return []string{langintel.RejectNewErrors} }

type lspRenameInput struct {
	lspPlace
	NewName  string   `json:"newName,omitempty"`
	From     string   `json:"from,omitempty" jsonschema:"a file or directory, instead of a place"`
	To       string   `json:"to,omitempty"`
	DryRun   bool     `json:"dryRun,omitempty"`
	RejectIf rejectIf `json:"rejectIf,omitempty" jsonschema:"take it back if it introduces errors"`
	AlsoText bool     `json:"alsoText,omitempty" jsonschema:"list where text still has the old name"`
}

// ofFile reports which of the two forms the input has.
func (in *lspRenameInput) ofFile() (bool, error) {
	file := in.From != "" || in.To != ""
	symbol := in.NewName != "" || in.lspPlace != lspPlace{}
	switch {
	case file && !symbol && in.From != "" && in.To != "":
		return true, nil
	case symbol && !file && in.NewName != "":
		return false, nil
	}
	return false, tools.Errorf(tools.CodeToolInput, "give either newName and the place of a symbol, or from and to of a file")
}

func (l *language) rename() (*tools.Tool, error) {
	spec := changeSpec("lsp_rename", "Rename symbol or file", "Rename a symbol, or a file with what imports it, everywhere or nowhere; says which problems that introduced.")
	asks := func(in lspRenameInput) bool { return in.DryRun }
	return changeTool(l, spec, asks, func(ctx context.Context, call *tools.Call, in lspRenameInput) (*tools.Outcome[LSPChange], error) {
		file, err := in.ofFile()
		if err != nil {
			return nil, err
		}
		opts := changeOptions(call, "lsp_rename", in.DryRun, in.RejectIf)
		var done *langintel.ChangeResult
		if file {
			done, err = l.client.RenameFile(ctx, langintel.RenameFileQuery{From: in.From, To: in.To, AlsoText: in.AlsoText, ChangeOptions: opts})
		} else {
			done, err = l.client.Rename(ctx, langintel.RenameQuery{
				Place: in.place(), NewName: in.NewName, AlsoText: in.AlsoText,
				DryRun: opts.DryRun, RejectIf: opts.RejectIf, Authorise: opts.Authorise, Confirm: opts.Confirm,
			})
		}
		if err != nil {
			return nil, changeError(err)
		}
		outcome := changeOutcome(call, done, "Renamed", "Would rename")
		if in.AlsoText {
			outcome.Metadata.Leftovers = orEmpty(outcome.Metadata.Leftovers)
		}
		return outcome, nil
	})
}
