package label

import "testing"

func TestLines(t *testing.T) {
	if got, want := Lines(), 2+6+4+15+5*Price; got != want {
		t.Fatalf("Lines() = %d, want %d", got, want)
	}
}
