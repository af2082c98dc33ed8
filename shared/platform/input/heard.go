package input

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// What a box says never fails its call: nobody stands beside the box to correct it. A function that calls Reader.Hears reads
// what it can, and notes what it read otherwise. People and programs get all faults instead.

// A Heard is something that a box said and that was read otherwise, or not at all.
type Heard struct {
	Field string `json:"field"`          // a parameter, or the names that lead to a field of the body, with slashes between
	Said  string `json:"said"`           // as Shown
	Read  string `json:"read,omitempty"` // empty: nothing
}

const (
	mostHeard = 8  // of a call
	mostShown = 64 // characters of a text
)

// Hears says that the operation takes what boxes say. If a box calls, its query and its body have no faults. Path
// parameters still have.
func (in *Reader) Hears() {
	in.takes.Hears = true
	in.faults.hears = in.Box
}

// Heard returns what the request says that was read otherwise, at most mostHeard.
func (in *Reader) Heard() []Heard { return in.faults.heard }

func (f *Faults) note(field, said, read string) {
	if len(f.heard) < mostHeard {
		f.heard = append(f.heard, Heard{Shown(strings.TrimPrefix(field, "/")), Shown(said), Shown(read)})
	}
}

// fit reads a text by a rule; empty if it cannot be one.
func (f *Faults) fit(field, said string, rule *Text) string {
	kept := rule.Fitted(said)
	if kept != said && !(rule.Lower && strings.EqualFold(kept, said)) {
		f.note(field, said, kept)
	}
	return kept
}

// Fitted is a text of a box as the rule takes it: without white space and control characters at its ends, and cut. It is empty
// if the rule takes no such text.
func (t *Text) Fitted(said string) string {
	text := []rune(Cleaned(strings.TrimFunc(said, outer)))
	if t.Max > 0 {
		text = text[:min(len(text), t.Max)]
	}
	cut := strings.TrimSpace(string(text))
	for _, one := range []string{cut, strings.ToLower(cut)} {
		if kept, code, _ := t.Apply(one); code == "" {
			return kept
		}
	}
	return ""
}

func outer(c rune) bool {
	return unicode.IsSpace(c) || unicode.IsControl(c) || c == '\ufeff' || c == '\u200b'
}

// Shown is a text in which everything can be seen: control characters, blanks at its ends, and what has no width. A long one
// is cut.
func Shown(text string) string {
	all := []rune(strings.ToValidUTF8(text, "\ufffd"))
	first, last := len(all), -1 // that are no blanks
	for i, c := range all {
		if c != ' ' {
			first, last = min(first, i), i
		}
	}
	var shown strings.Builder
	for i, c := range all {
		switch {
		case i == mostShown:
			return shown.String() + "…"
		case c == '\n':
			shown.WriteRune('⏎')
		case c == '\t':
			shown.WriteRune('⇥')
		case c == ' ' && (i < first || i > last):
			shown.WriteRune('␣')
		case c < ' ':
			shown.WriteRune('\u2400' + c)
		case hostile(c) || c == brailleBlank:
			fmt.Fprintf(&shown, "<%U>", c)
		default:
			shown.WriteRune(c)
		}
	}
	return shown.String()
}

// hear reads a box's body, if it is an object or can be made one. A body that is too large ends where it does.
func (in *Reader) hear(repair func([]byte) []byte) []byte {
	text, err := io.ReadAll(io.LimitReader(in.r.Body, int64(cmp.Or(in.takes.MaxBody, MaxBody))))
	text = bytes.Trim(bytes.TrimPrefix(bytes.ToValidUTF8(text, []byte("?")), []byte("\ufeff")), "\x00 \t\r\n")
	for _, one := range [][]byte{text, escaped(text), repair(text)} {
		if depth(one) <= MaxDepth && json.Valid(one) && KindOf(one) == ObjectKind {
			return one
		}
	}
	if err != nil || len(text) > 0 {
		in.faults.note("", string(text), "")
	}
	return nil
}

// escaped escapes the control characters in the strings of a JSON text, which some clients send as they are.
func escaped(text []byte) []byte {
	if !bytes.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	var made bytes.Buffer
	inString, after := false, false // after: behind a backslash
	for _, c := range string(text) {
		switch {
		case inString && c < ' ':
			fmt.Fprintf(&made, `\u%04x`, c)
			after = false
			continue
		case after:
			after = false
		case c == '"':
			inString = !inString
		case c == '\\':
			after = inString
		}
		made.WriteRune(c)
	}
	return made.Bytes()
}

// textOf is the text of a string, a number or a boolean.
func textOf(raw json.RawMessage) (text string, ok bool) {
	switch KindOf(raw) {
	case StringKind:
		return text, json.Unmarshal(raw, &text) == nil
	case NumberKind, BooleanKind:
		return string(raw), true
	}
	return "", false
}

// as returns a box's value of another kind as the wanted one, if that loses nothing.
func as(kind Type, raw json.RawMessage) (json.RawMessage, bool) {
	text, ok := textOf(raw)
	if !ok {
		return nil, false
	}
	quoted, err := json.Marshal(text)
	switch {
	case err != nil:
	case kind == StringKind:
		return quoted, true
	case kind == ArrayKind:
		return slices.Concat([]byte("["), quoted, []byte("]")), true
	case kind == NumberKind && json.Valid([]byte(text)) && KindOf([]byte(text)) == NumberKind:
		return []byte(text), true
	}
	return nil, false
}

// unusable notes a value of a field that is not used.
func (o *Object) unusable(name string) {
	for _, m := range o.members {
		if m.Name == name {
			text, ok := textOf(m.Value)
			if !ok {
				text = string(m.Value)
			}
			o.faults.note(o.at(name), text, "")
			return
		}
	}
}
