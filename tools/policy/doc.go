// Package policy decides what a call may do, asks where a person must agree,
// and keeps the account of it.
//
// [New] makes a [tools.Policy] from a [Profile] and the user's rules.
// [Consents] are approvals given on the command line, [Audit] is the log of
// what was done, [Redactor] takes known secrets out of text, and [Trust]
// remembers which workspaces a person trusts.
//
// Rules over command lines are a convenience: a shell can write any command in
// another way. What holds a command back is the sandbox it runs in.
package policy
