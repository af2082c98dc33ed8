package command

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dotted matches versions that consist of numbers.
var dotted = regexp.MustCompile(`^v?[0-9]{1,9}(\.[0-9]{1,9}){0,3}$`)

// earlier reports whether one version comes before another, if both consist of numbers. Other versions have no known
// order; the service accepts any.
func earlier(a, b string) bool {
	if !dotted.MatchString(a) || !dotted.MatchString(b) {
		return false
	}
	return slices.CompareFunc(numbers(a), numbers(b), cmp.Compare) < 0
}

func numbers(version string) []int {
	list := make([]int, 4)
	for i, part := range strings.Split(strings.TrimPrefix(version, "v"), ".") {
		list[i], _ = strconv.Atoi(part) // it consists of digits
	}
	return list
}
