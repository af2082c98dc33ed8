package audit

// Grown are the fields of a type of resources that a release added, since the first one. A function of an earlier release
// keeps them in the resource's item, and neither its events nor its answers have them.
func Grown(resourceType string) []string { return grown[resourceType] }

var grown = map[string][]string{}
