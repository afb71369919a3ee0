package diagnostics

// myers maps a range by the linear-space refinement of E. Myers, "An O(ND)
// Difference Algorithm and Its Variations", Algorithmica 1 (1986): find the
// middle of a shortest edit script, then do both halves.
func (d *differ) myers(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 || b0 == b1 {
		d.replace(a0, a1, b0, b1)
		return
	}
	x, y, ok := d.middle(a0, a1, b0, b1)
	if !ok || x == a0 && y == b0 || x == a1 && y == b1 {
		d.replace(a0, a1, b0, b1)
		return
	}
	d.myers(a0, x, b0, y)
	d.myers(x, a1, y, b1)
}

// middle finds a point on a shortest edit script, about half way, or gives up
// when the budget is used up.
func (d *differ) middle(a0, a1, b0, b1 int) (x, y int, ok bool) {
	n, m := a1-a0, b1-b0
	most := (n + m + 1) / 2
	// Diagonal k is at index k+most+1; a value is how far along a the search came.
	size := 2*most + 3
	d.forth, d.back = fresh(d.forth, size), fresh(d.back, size)
	zero, delta := most+1, n-m
	d.forth[zero+1], d.back[zero+1] = 0, 0
	for step := 0; step <= most; step++ {
		if *d.budget -= 2*step + 2; *d.budget < 0 {
			return 0, 0, false
		}
		for k := -step; k <= step; k += 2 {
			x := advance(d.forth, zero, k, step)
			y := x - k
			for x < n && y < m && x >= 0 && y >= 0 && d.a[a0+x] == d.b[b0+y] {
				x, y = x+1, y+1
			}
			x = inside(x, y, n, m)
			d.forth[zero+k] = x
			other := delta - k
			if delta&1 != 0 && other > -step && other < step && x+d.back[zero+other] >= n {
				return a0 + x, b0 + x - k, true
			}
		}
		for k := -step; k <= step; k += 2 {
			x := advance(d.back, zero, k, step)
			y := x - k
			for x < n && y < m && x >= 0 && y >= 0 && d.a[a1-1-x] == d.b[b1-1-y] {
				x, y = x+1, y+1
			}
			x = inside(x, y, n, m)
			d.back[zero+k] = x
			other := delta - k
			if delta&1 == 0 && other >= -step && other <= step && x+d.forth[zero+other] >= n {
				return a1 - x, b1 - (x - k), true
			}
		}
	}
	return 0, 0, false
}

// advance is the furthest start of a step on diagonal k.
func advance(far []int, zero, k, step int) int {
	if k == -step || k != step && far[zero+k-1] < far[zero+k+1] {
		return far[zero+k+1]
	}
	return far[zero+k-1] + 1
}

// outside marks a diagonal that left the range; it stays negative, whatever steps
// are added to it.
const outside = -1 << 40

func inside(x, y, n, m int) int {
	if x > n || y > m {
		return outside
	}
	return x
}

func fresh(list []int, size int) []int {
	if cap(list) < size {
		return make([]int, size)
	}
	list = list[:size]
	clear(list)
	return list
}
