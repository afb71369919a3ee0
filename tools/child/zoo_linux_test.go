package child_test

func runOwnerRole([]string) int { return 0 }
