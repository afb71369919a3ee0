// Package stock knows what is on the shelves.
package stock

import "fmt"

// Shelf holds items of one kind.
type Shelf struct {
	Name  string
	count int
}

// Counter is anything that can be counted.
type Counter interface {
	Count() int
}

// New returns an empty shelf.
func New(name string) *Shelf {
	return &Shelf{Name: name}
}

// Add puts n items on the shelf.
func (s *Shelf) Add(n int) {
	s.count += n
}

// Count returns how many items are there.
func (s *Shelf) Count() int { return s.count }

// String tells a shelf's name and count.
func (s *Shelf) String() string {
	return fmt.Sprintf("%s: %d", s.Name, s.Count())
}
