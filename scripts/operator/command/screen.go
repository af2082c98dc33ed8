package command

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// widthOf is the number of terminal columns that a text takes.
func widthOf(text string) (n int) {
	for _, c := range text {
		n += widthOfRune(c)
	}
	return n
}

func widthOfRune(c rune) int {
	switch kind := width.LookupRune(c).Kind(); {
	case unicode.In(c, unicode.Mn, unicode.Me):
		return 0
	case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// wrapped breaks lines between words, so that none is wider than columns; with 0, none is broken. Continuation lines
// are indented past the label.
func wrapped(lines []line, columns int) (list []line) {
	for _, l := range lines {
		indent := 0
		if l.label != "" {
			indent = labelled
		}
		if columns > 0 && columns < 3*labelled {
			indent = 0
		}
		first := l.label
		if first != "" {
			first += strings.Repeat(" ", max(indent-len(l.label), 1))
		}
		text := strings.ReplaceAll(printable(l.text), "\n", " ")
		for i, text := range words(first+text, columns, indent) {
			if i > 0 {
				text = strings.Repeat(" ", indent) + text
			}
			list = append(list, line{mark: l.mark, text: text})
		}
	}
	return list
}

// words breaks a text into lines of at most columns. All but the first leave room for an indent. Words that are too
// wide are also broken.
func words(text string, columns, indent int) (lines []string) {
	if columns <= 0 {
		return []string{text}
	}
	room := columns
	for widthOf(text) > room {
		cut, used, space := 0, 0, 0
		for i, c := range text {
			if used += widthOfRune(c); used > room {
				break
			}
			if cut = i + len(string(c)); c == ' ' && strings.TrimSpace(text[:i]) != "" {
				space = i
			}
		}
		if strings.HasPrefix(text[cut:], " ") {
			space = cut
		}
		switch {
		case space > 0:
			lines, text = append(lines, strings.TrimRight(text[:space], " ")), strings.TrimLeft(text[space:], " ")
		case cut > 0:
			lines, text = append(lines, text[:cut]), text[cut:]
		default: // the screen is narrower than a letter
			return append(lines, "")
		}
		room = max(columns-indent, 1)
	}
	return append(lines, text)
}

// fit returns the lines that fit a screen: as many of lines as there is room for, and always last.
func fit(lines, last []line, columns, rows int) []line {
	lines, last = wrapped(lines, columns), wrapped(last, columns)
	last = last[:min(len(last), max(rows-1, 0))]
	room := max(rows-len(last), 0)
	if len(lines) > room {
		lines = lines[:room]
	}
	return append(lines[:len(lines):len(lines)], last...)
}

// frame draws lines over a whole screen. Each row is cleared before it is written: clearing the rest of a full row
// would clear its last letter.
func frame(lines []line, rows int, colours bool) string {
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i := range rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString("\x1b[2K")
		if i >= len(lines) {
			continue
		}
		b.WriteString(lines[i].drawn(colours))
	}
	return b.String()
}

// drawn returns the line as it is written, with its mark if there are colours.
func (l line) drawn(colours bool) string {
	if l.mark == "" || !colours {
		return l.text
	}
	return string(l.mark) + l.text + unmark
}

// count formats a number with separators: 1,203.
func count(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// noun returns the noun for a number of things.
func noun(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// length formats a duration in the largest unit of which it has at least a few.
func length(d time.Duration) string {
	switch d = max(d, 0).Round(time.Second); {
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 36*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}
