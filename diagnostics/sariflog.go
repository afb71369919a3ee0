package diagnostics

// The parts of a SARIF log that [Delta.SARIF] writes, with their names there.

type sarifLog struct {
	Schema  string      `json:"$schema"`
	Version string      `json:"version"`
	Runs    []*sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	Automation  sarifAutomation   `json:"automationDetails"`
	Baseline    string            `json:"baselineGuid,omitempty"`
	Columns     string            `json:"columnKind"`
	Newlines    []string          `json:"newlineSequences"`
	Language    string            `json:"language"`
	Results     []sarifResult     `json:"results"`
}

// rule returns the index of a rule, which it adds when it is new.
func (r *sarifRun) rule(id string) int {
	if r.Tool.Driver.index == nil {
		r.Tool.Driver.index = map[string]int{}
	}
	i, ok := r.Tool.Driver.index[id]
	if !ok {
		i = len(r.Tool.Driver.Rules)
		r.Tool.Driver.index[id] = i
		r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, sarifRule{id})
	}
	return i
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Language is what the format takes it for when it is left out.
	Language string      `json:"language"`
	Rules    []sarifRule `json:"rules,omitempty"`
	index    map[string]int
}

type sarifRule struct {
	ID string `json:"id"`
}

type sarifAutomation struct {
	ID   string `json:"id"`
	GUID string `json:"guid,omitempty"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

func (i *sarifInvocation) note(level, text string) {
	i.Notifications = append(i.Notifications, sarifNotification{level, sarifText{text}})
}

type sarifNotification struct {
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Related      []sarifLocation   `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	State        string            `json:"baselineState,omitempty"`
	Properties   *sarifKnown       `json:"properties,omitempty"`
}

// sarifKnown is what a property bag (§3.8) says beyond the format.
type sarifKnown struct {
	Via       Via       `json:"via,omitempty"`
	Sure      Certainty `json:"sure,omitempty"`
	Moved     bool      `json:"moved,omitempty"`
	Generated bool      `json:"generated,omitempty"`
	Unknown   Reason    `json:"unknown,omitempty"`
}

type sarifLocation struct {
	ID       *int          `json:"id,omitempty"`
	Message  *sarifText    `json:"message,omitempty"`
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndLine     int `json:"endLine"`
	EndColumn   int `json:"endColumn,omitempty"`
}
