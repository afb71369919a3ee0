// Package procsess runs programs that outlive the call that started them: in a
// terminal or on pipes, with output that any number of readers take by cursor.
package procsess
