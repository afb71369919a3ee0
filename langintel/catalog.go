package langintel

// Catalogue returns the servers that the package knows, in order of preference
// where two serve one language. The list is the caller's to change.
func Catalogue() []Spec {
	return []Spec{
		gopls(),
	}
}
