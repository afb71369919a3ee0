// Package label prints names that are not ASCII.
package label

// Price is what a thing costs.
const Price = 3

// Lines has a use of Price behind characters of one, two, three and four bytes.
func Lines() (sum int) {
	sum += len("é") + Price
	sum += len("日本") + Price
	sum += len("😀") + Price
	sum += len("é日本😀e\u0301") + Price /* 👩‍👩‍👧 */ + Price
	return sum
}
