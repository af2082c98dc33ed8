package terminal

import (
	"strings"
	"text/tabwriter"

	"github.com/muesli/reflow/wordwrap"
	"github.com/muesli/reflow/wrap"
)

// A Mark is the emphasis of a line on terminals with colour.
type Mark string

// The marks.
const (
	Strong Mark = "\x1b[1m"
	Red    Mark = "\x1b[31m"
	unmark      = "\x1b[0m"
)

// A Line is a label and a text, which may be broken.
type Line struct {
	Mark  Mark
	Label string
	Text  string
}

// labelled is the width of labels.
const labelled = 10

// Broken breaks a text between words into lines of at most columns; with 0, it is one line. A word that is too wide is
// also broken.
func Broken(text string, columns int) []string {
	if columns <= 0 {
		return []string{text}
	}
	w := wordwrap.NewWriter(columns)
	w.Breakpoints = nil // names and commands have hyphens
	_, _ = w.Write([]byte(text))
	_ = w.Close() // like Write, it only works in memory
	return strings.Split(wrap.String(w.String(), columns), "\n")
}

// Wrapped breaks lines, so that none is wider than columns; with 0, none is broken. Continuation lines are indented
// past the label, if there is room.
func Wrapped(lines []Line, columns int) (list []Line) {
	for _, l := range lines {
		first, rest, room := "", "", columns
		text := strings.ReplaceAll(Printable(l.Text), "\n", " ")
		switch {
		case l.Label == "":
		case columns > 0 && columns < 3*labelled:
			text = l.Label + " " + text
		default:
			first = l.Label + strings.Repeat(" ", max(labelled-len(l.Label), 1))
			rest, room = strings.Repeat(" ", len(first)), max(columns-len(first), 0)
		}
		for _, part := range Broken(text, room) {
			list = append(list, Line{Mark: l.Mark, Text: first + part})
			first = rest
		}
	}
	return list
}

// Drawn returns the line as it is written, with its mark if there are colours.
func (l Line) Drawn(colours bool) string {
	if l.Mark == "" || !colours {
		return l.Text
	}
	return string(l.Mark) + l.Text + unmark
}

// Aligned lines cells up in columns, to the right, with a gap between them.
func Aligned(rows [][]string, gap int) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, gap, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		_, _ = w.Write([]byte(strings.Join(row, "\t") + "\t\n"))
	}
	_ = w.Flush() // like Write, it only works in memory
	list := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i, line := range list {
		list[i] = strings.TrimRight(line[gap:], " ") // the first column has a gap, too
	}
	return list
}
