package procsess

// olderCallOf: there are none.
func olderCallOf(int64) callKind { return otherCall }
