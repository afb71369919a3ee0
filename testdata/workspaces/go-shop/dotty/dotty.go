// Package dotty sees the names of stock as its own.
package dotty

import . "example.com/shop/stock"

// Make is declared here.
func Make() *Shelf { return New("dots") }
