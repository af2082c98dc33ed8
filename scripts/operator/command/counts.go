package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"wavegate/scripts/operator/api"
)

// counted says how old the counts are, and their stage if it is not the present one.
func (v view) counted(now time.Time) string {
	if v.progress == nil {
		return "its boxes have not been counted yet; they are counted once a minute"
	}
	text := fmt.Sprintf("counted %s ago", length(now.Sub(v.progress.AsOf)))
	if at := v.progress.StagedPercent; at != v.rollout.StagedPercent {
		text += fmt.Sprintf(", when it was at %d %%", at)
	}
	return text
}

// wide is the number of columns from which all states have their own column.
const wide = 66

// table counts boxes by state, for each stage and for all stages that the rollout has reached.
func (v view) table(columns int) []string {
	if v.progress == nil {
		return nil
	}
	row := func(name string, s api.StageProgress, reached bool) []string {
		switch {
		case !reached && columns > 0 && columns < wide:
			return []string{name, count(s.Expected), "", "", ""}
		case !reached:
			return []string{name, count(s.Expected), "", "", "", "", ""}
		case columns > 0 && columns < wide:
			return []string{name, count(s.Expected), count(s.Installed), count(s.Failed), count(s.Reverted)}
		}
		return []string{name, count(s.Expected), count(s.Told()), count(s.Installed), count(s.OnItsWay()), count(s.Failed), count(s.Reverted)}
	}
	rows, gap := [][]string{{"stage", "boxes", "told", "installed", "on its way", "failed", "reverted"}}, 2
	if columns > 0 && columns < wide {
		rows, gap = [][]string{{"stage", "boxes", "installed", "failed", "reverted"}}, 1
	}
	reached := 0
	for _, s := range v.progress.Stages {
		in := s.Percent <= v.progress.StagedPercent
		if rows = append(rows, row(fmt.Sprintf("%d %%", s.Percent), s, in)); in {
			reached++
		}
	}
	if reached > 1 {
		rows = slices.Insert(rows, 1+reached, row("so far", v.progress.Total(), true))
	}
	return aligned(rows, gap)
}

// aligned lines cells up in right-aligned columns.
func aligned(rows [][]string, gap int) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], widthOf(cell))
		}
	}
	var list []string
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", gap))
			}
			b.WriteString(strings.Repeat(" ", widths[i]-widthOf(cell)) + cell)
		}
		list = append(list, strings.TrimRight(b.String(), " "))
	}
	return list
}

// more counts the boxes that a stage adds.
func (v view) more(stage int) (n int) {
	for _, s := range v.progress.Stages {
		if s.Percent > v.rollout.StagedPercent && s.Percent <= stage {
			n += s.Expected
		}
	}
	return n
}

// moreBoxes returns that number as text to append to a question.
func (v view) moreBoxes(stage int) string {
	if v.progress == nil {
		return " (its boxes have not been counted yet)"
	}
	n := v.more(stage)
	return ", " + count(n) + noun(n, " more box", " more boxes")
}

// reasons lists why boxes failed, the most frequent reasons first. The guard counts a failure only after there was
// time for another try, so its sentence may name fewer.
func (v view) reasons() string {
	if v.progress == nil {
		return ""
	}
	var list []string
	for _, code := range byCount(v.progress.Failures) {
		list = append(list, fmt.Sprintf("%s %s", code, count(v.progress.Failures[code])))
	}
	if n := v.progress.Total().Reverted; n > 0 {
		list = append(list, "reverted "+count(n))
	}
	text := strings.Join(list, ", ")
	if g := v.judgement(); g != nil && text != "" {
		if of := v.progress.Of(g.Halting.Percent); g.Halting.Bad < of.Failed+of.Reverted {
			text += fmt.Sprintf("; the guard counted %s as bad, because the others could still retry", count(g.Halting.Bad))
		}
	}
	return text
}

// byCount lists the keys with the highest numbers first.
func byCount(counts map[string]int) []string {
	var keys []string
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	return keys
}
