package till

import (
	"testing"

	"example.com/shop/stock"
)

func TestSell(t *testing.T) {
	s := stock.New("tea")
	s.Add(1)
	if !Sell(s) || Sell(s) {
		t.Fatal("one item, one sale")
	}
	if Total(s) != 0 {
		t.Fatalf("Total = %d, Count = %d", Total(s), s.Count())
	}
}
