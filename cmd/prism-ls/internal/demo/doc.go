// Package demo shows on a scratch copy of a repository what prism-ls is for:
// find a symbol, list its references, rename it everywhere, see what that did
// to the diagnostics, build, make a mistake, and take it all back. Every step
// is a tool call like an agent's.
package demo
