package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"wavegate/scripts/operator/api"
)

// A change sets the fields of a resource that wish has. Other fields stay unchanged, unless wish is the whole
// resource.
type change struct {
	what, path string
	in         string // the path of the resource that contains it; may be empty
	wish       map[string]any
	whole      bool
}

// put shows the person what changes, asks, and writes the resource, unless somebody else has changed it since.
func (a *app) put(ctx context.Context, w change) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	var was map[string]json.RawMessage
	unread := false
	answer, err := c.Do(ctx, api.Request{Method: http.MethodGet, Path: w.path})
	switch {
	case isMissing(err) && w.in != "":
		if _, err := c.Do(ctx, api.Request{Method: http.MethodGet, Path: w.in}); err != nil {
			return err
		}
	case isMissing(err):
	case isForbidden(err): // an installer may write boxes but not read them: write everything as given
		unread = true
	case err != nil:
		return err
	default:
		if err := answer.Into(&was); err != nil {
			return err
		}
	}
	if op, _, ok := operationOf(http.MethodPut, w.path); ok && !w.whole {
		for _, f := range op.Takes.Body.Fields {
			if _, given := w.wish[f.Name]; f.Required && !given && was[f.Name] != nil {
				w.wish[f.Name] = was[f.Name]
			}
		}
	}
	if err := acceptable(http.MethodPut, w.path, w.wish); err != nil {
		return err
	}
	request, question := api.Request{Method: http.MethodPut, Path: w.path, Body: w.wish}, "Change "+w.what
	switch {
	case was != nil:
		request.IfMatch = answer.Header.Get("ETag")
	case !unread:
		request.IfNoneMatch, question = "*", "Add "+w.what
	}
	lines, err := w.differences(was)
	if err != nil {
		return err
	}
	if len(lines) == 0 && was != nil {
		a.say("%s has not changed", w.what)
		return a.shown(ctx, c, w.path)
	}
	if err := a.ask(question + ":\n" + strings.Join(lines, "\n") + "\nContinue?"); err != nil {
		return err
	}
	if _, err := c.Do(ctx, request); err != nil {
		return err
	}
	a.say("%s is set", w.what)
	if unread {
		return nil
	}
	return a.shown(ctx, c, w.path)
}

// differences lists the changes that the wish makes.
func (w change) differences(was map[string]json.RawMessage) ([]string, error) {
	before := map[string]json.RawMessage{}
	for name, v := range was {
		if _, is := w.wish[name]; is || w.whole {
			before[name] = v
		}
	}
	old, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	wish, err := json.Marshal(w.wish)
	if err != nil {
		return nil, err
	}
	return differences(old, wish), nil
}

// mostDifferences limits the lines of a question.
const mostDifferences = 30

// differences lists the fields in which two documents differ.
func differences(was, is []byte) (lines []string) {
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

func shownAs(text string) string {
	if text == "" || text == "null" {
		return "none"
	}
	return strings.ReplaceAll(printable(text), "\n", " ")
}

// isForbidden reports whether the person's role does not allow a call.
func isForbidden(err error) bool {
	r, ok := errors.AsType[*api.RefusedError](err)
	return ok && r.Status == http.StatusForbidden
}
