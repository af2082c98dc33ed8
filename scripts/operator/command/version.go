package command

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dotted is a version that is made of numbers.
var dotted = regexp.MustCompile(`^v?[0-9]{1,9}(\.[0-9]{1,9}){0,3}$`)

// earlier reports whether one version comes before another, where both are made of numbers. Of other versions it
// is not known, and the service takes any.
func earlier(a, b string) bool {
	if !dotted.MatchString(a) || !dotted.MatchString(b) {
		return false
	}
	return slices.CompareFunc(numbers(a), numbers(b), cmp.Compare) < 0
}

func numbers(version string) []int {
	list := make([]int, 4)
	for i, part := range strings.Split(strings.TrimPrefix(version, "v"), ".") {
		list[i], _ = strconv.Atoi(part) // it is made of digits
	}
	return list
}
