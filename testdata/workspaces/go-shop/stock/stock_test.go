package stock

import "testing"

func TestAdd(t *testing.T) {
	s := New("tea")
	s.Add(2)
	if s.Count() != 2 {
		t.Fatalf("Count() = %d", s.Count())
	}
}
