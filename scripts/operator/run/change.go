package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/platform/input"
)

// A Change sets the fields of a resource that Wish has. Other fields stay unchanged, unless Wish is the whole
// resource.
type Change struct {
	What, Path string
	In         string // the path of the resource that contains it; may be empty
	Wish       map[string]any
	Whole      bool
	Done       string // what was done; empty: What is set
}

// Sets makes a command that changes a resource.
func (r *Run) Sets(cmd *cobra.Command, of func(args []string) (Change, error)) *cobra.Command {
	return r.Calls(cmd, func(ctx context.Context, c *Call) error {
		w, err := of(c.Args)
		if err != nil {
			return err
		}
		return c.Put(ctx, w)
	})
}

// Given returns the fields that a person set by options. fields maps options to fields.
func Given(cmd *cobra.Command, fields map[string]string) map[string]any {
	wish := map[string]any{}
	for option, name := range fields {
		if f := cmd.Flags().Lookup(option); f.Changed {
			wish[name] = f.Value.String()
		}
	}
	return wish
}

// Put shows the person what changes, asks, and writes the resource, unless somebody else has changed it since.
func (c *Call) Put(ctx context.Context, w Change) error {
	var was map[string]json.RawMessage
	answer, err := c.Get(ctx, w.Path)
	unread := Forbidden(err) // an installer may write boxes but not read them: write everything as given
	switch {
	case Missing(err) && w.In != "":
		_, err = c.Get(ctx, w.In)
	case Missing(err) || unread:
		err = nil
	case err == nil:
		err = answer.Into(&was)
	}
	if err != nil {
		return err
	}
	if op, _, ok := OperationOf(http.MethodPut, w.Path); ok && !w.Whole {
		for _, f := range op.Takes.Body.Fields {
			if _, given := w.Wish[f.Name]; f.Required && !given && was[f.Name] != nil {
				w.Wish[f.Name] = was[f.Name]
			}
		}
	}
	if err := Acceptable(http.MethodPut, w.Path, w.Wish); err != nil {
		return err
	}
	lines, err := w.differences(was)
	if err != nil {
		return err
	}
	if len(lines) == 0 && was != nil {
		return c.Done(ctx, w.Path, "%s has not changed", w.What)
	}
	s := Step{Request: api.Request{Method: http.MethodPut, Path: w.Path, Body: w.Wish}, Shown: w.Path, Done: cmp.Or(w.Done, w.What+" is set")}
	verb := "Change "
	switch {
	case was != nil:
		s.IfMatch = answer.Header.Get("ETag")
	case unread:
		s.Shown = ""
	default:
		s.IfNoneMatch, verb = "*", "Add "
	}
	s.Question = verb + w.What + ":\n" + strings.Join(lines, "\n") + "\nContinue?"
	return c.Take(ctx, s)
}

// differences lists the changes that the wish makes.
func (w Change) differences(was map[string]json.RawMessage) ([]string, error) {
	before := map[string]json.RawMessage{}
	for name, v := range was {
		if _, is := w.Wish[name]; is || w.Whole {
			before[name] = v
		}
	}
	old, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	wish, err := json.Marshal(w.Wish)
	if err != nil {
		return nil, err
	}
	return Differences(old, wish), nil
}

// mostDifferences limits the lines of a question.
const mostDifferences = 30

// Differences lists the fields in which two documents differ.
func Differences(was, is []byte) (lines []string) {
	shownAs := func(text string) string {
		if text == "" || text == "null" {
			return "none"
		}
		return strings.ReplaceAll(terminal.Printable(text), "\n", " ")
	}
	old := map[string]string{}
	for _, f := range fieldsOf("", was) {
		old[f.name] = f.text
	}
	for _, f := range fieldsOf("", is) {
		before, had := old[f.name]
		delete(old, f.name)
		switch {
		case !had && f.text != "" && f.text != "null":
			lines = append(lines, fmt.Sprintf("  %s: %s", f.name, shownAs(f.text)))
		case had && before != f.text:
			lines = append(lines, fmt.Sprintf("  %s: %s → %s", f.name, shownAs(before), shownAs(f.text)))
		}
	}
	for _, f := range fieldsOf("", was) {
		if _, gone := old[f.name]; gone && f.text != "" {
			lines = append(lines, fmt.Sprintf("  %s: %s → none", f.name, shownAs(f.text)))
		}
	}
	if more := len(lines) - mostDifferences; more > 0 {
		lines = append(lines[:mostDifferences], fmt.Sprintf("  … and %d more", more))
	}
	return lines
}

// fields prints a document of the service, one field per line.
func (r *Run) fields(answer api.Response) error {
	var document json.RawMessage
	if err := answer.Into(&document); err != nil {
		return err
	}
	var rows []string
	for _, f := range fieldsOf("", document) {
		rows = append(rows, terminal.Cells(f.name, f.text))
	}
	return r.Table(rows...)
}

// A field is a value in a document and its place, such as promote.soak.10.
type field struct{ name, text string }

// fieldsOf lists the values of a document in its order. A list of plain values is one field.
func fieldsOf(name string, value []byte) (list []field) {
	inside := func(key string) string {
		if strings.Contains(key, ".") {
			key = strconv.Quote(key)
		}
		return strings.TrimPrefix(name+"."+key, ".")
	}
	switch input.KindOf(value) {
	case input.ObjectKind:
		for _, m := range input.Members(value) {
			list = append(list, fieldsOf(inside(m.Name), m.Value)...)
		}
		return list
	case input.ArrayKind:
		var texts []string
		for i, v := range input.Elements(value) {
			of := fieldsOf(inside(strconv.Itoa(i)), v)
			list = append(list, of...)
			if len(of) == 1 && of[0].name == inside(strconv.Itoa(i)) {
				texts = append(texts, of[0].text)
			}
		}
		if len(texts) == len(list) {
			return []field{{name, strings.Join(texts, ", ")}}
		}
		return list
	}
	text := string(value)
	if input.KindOf(value) == input.StringKind {
		_ = json.Unmarshal(value, &text) // it is a string
	}
	return []field{{name, text}}
}
