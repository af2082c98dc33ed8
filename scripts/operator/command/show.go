package command

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/shared/platform/input"
)

// shows makes a command that reads a resource and shows all its fields.
func (a *app) shows(use, short, example string, path func(args []string) string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example, Args: exactly(use),
		RunE: a.run(func(ctx context.Context, args []string) error { return a.read(ctx, path(args), nil) }),
	}
}

// listing makes a command that prints a list, by default up to otherwise items.
func listing[T any](a *app, use, short, example string, otherwise uint, of func(args []string) (list[T], error)) *cobra.Command {
	var most uint
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example, Args: exactly(use),
		RunE: a.run(func(ctx context.Context, args []string) error {
			l, err := of(args)
			if err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			return l.print(ctx, a, c, most)
		}),
	}
	limited(cmd, &most, otherwise)
	return cmd
}

// read reads a resource and shows it.
func (a *app) read(ctx context.Context, path string, query url.Values) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	answer, err := c.Do(ctx, api.Request{Method: http.MethodGet, Path: path, Query: query})
	if err != nil {
		return err
	}
	return a.display(answer)
}

// display prints a document of the service: with --json unchanged, otherwise one field per line.
func (a *app) display(answer api.Response) error {
	if a.json {
		a.show(answer.Body)
		return nil
	}
	var document json.RawMessage
	if err := answer.Into(&document); err != nil {
		return err
	}
	var rows []string
	for _, f := range fieldsOf("", document) {
		rows = append(rows, cells(f.name, f.text))
	}
	return a.table(rows...)
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
