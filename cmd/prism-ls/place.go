package main

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// placeHelp explains what placeOf reads.
const placeHelp = `PLACE is a symbol (Type.Method, package.Func, Class/method), FILE:LINE:COLUMN,
FILE:LINE:SYMBOL, or FILE:SYMBOL. Lines and columns count from 1.`

// request is the input of a language tool, as far as these commands fill it.
type request struct {
	Path     string `json:"path,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Symbol   string `json:"symbol,omitempty"`
	Query    string `json:"query,omitempty"`
	Kind     string `json:"kind,omitempty"`
	NewName  string `json:"newName,omitempty"`
	From     string `json:"from,omitempty"`
	To       string `json:"to,omitempty"`
	DryRun   bool   `json:"dryRun,omitempty"`
	RejectIf string `json:"rejectIf,omitempty"`
	AlsoText bool   `json:"alsoText,omitempty"`
	Severity string `json:"severity,omitempty"`
	Restart  string `json:"restart,omitempty"`

	EndLine   int      `json:"endLine,omitempty"`
	Kinds     []string `json:"kinds,omitempty"`
	Apply     string   `json:"apply,omitempty"`
	Direction string   `json:"direction,omitempty"`
	Depth     int      `json:"depth,omitempty"`
}

// placeOf reads a place as a person writes it.
func placeOf(text string) (request, error) {
	parts := strings.Split(text, ":")
	if len(parts) == 1 || strings.Contains(text, "::") { // C++ and Rust write names like that
		return request{Symbol: text}, nil
	}
	last := parts[len(parts)-1]
	if last == "" || parts[0] == "" {
		return request{}, wrongUse("%q is no place. %s", text, placeHelp)
	}
	if len(parts) == 2 {
		if _, err := strconv.Atoi(last); err == nil {
			return request{}, wrongUse("%q names a line alone; add a column or the symbol on it. %s", text, placeHelp)
		}
		return request{Path: parts[0], Symbol: last}, nil
	}
	line, err := strconv.Atoi(parts[len(parts)-2])
	if err != nil {
		return request{}, wrongUse("%q is no place. %s", text, placeHelp)
	}
	place := request{Path: strings.Join(parts[:len(parts)-2], ":"), Line: line}
	if column, err := strconv.Atoi(last); err == nil {
		place.Column = column
	} else {
		place.Symbol = last
	}
	return place, nil
}

// language makes a command that is one call to a language tool; fill makes its
// input from the arguments.
func (a *app) language(cmd *cobra.Command, tool string, fill func(args []string) (request, error)) *cobra.Command {
	var object bool
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		in, err := fill(args)
		if err != nil {
			return err
		}
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		return a.call([]string{tool, string(text)}, callFlags{object: object})
	}
	a.settingFlags(cmd)
	cmd.Flags().BoolVar(&object, "json", false, "print the result as one JSON object")
	return cmd
}

// atPlace fills a request from a single argument.
func atPlace(args []string) (request, error) { return placeOf(args[0]) }
