// Package till sells what is in stock.
package till

import "example.com/shop/stock"

// Sell takes one item off a shelf, if there is one.
func Sell(s *stock.Shelf) bool {
	if s.Count() == 0 {
		return false
	}
	s.Add(-1)
	return true
}

// Total counts several shelves.
func Total(shelves ...*stock.Shelf) int {
	var total int
	for _, s := range shelves {
		total += s.Count()
	}
	return total
}

var _ stock.Counter = (*stock.Shelf)(nil)
