package command

import (
	"slices"
	"strings"
)

// mostNear is the most names that are offered instead of one that does not exist.
const mostNear = 3

// didYouMean offers the names that are most similar to one that does not exist; empty if there are none.
func didYouMean(wrong string, names []string) string { return meaning(near(wrong, names)) }

func meaning(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(list, " or ") + "?"
}

// near returns the names that are most similar to another one, the most similar first. At most a third of their
// letters differ, and hardly more than in the most similar one. A name with the other one as its beginning is also
// similar.
func near(wrong string, names []string) []string {
	if wrong == "" {
		return nil
	}
	type candidate struct {
		name string
		away int
	}
	var list []candidate
	for _, name := range names {
		away := letters(strings.ToLower(wrong), strings.ToLower(name))
		if strings.HasPrefix(name, wrong) {
			away = 1
		}
		if away <= max(2, len(wrong)/3) && away < len(wrong) && !slices.ContainsFunc(list, func(c candidate) bool { return c.name == name }) {
			list = append(list, candidate{name, away})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return a.away - b.away })
	var found []string
	for _, c := range list[:min(len(list), mostNear)] {
		if c.away <= list[0].away+1 {
			found = append(found, c.name)
		}
	}
	return found
}

// letters is the Levenshtein distance of two texts.
func letters(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}
