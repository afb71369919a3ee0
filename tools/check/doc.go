// Package check runs the checks that a host declares by name, and reads what they
// say into diagnostics.
package check
