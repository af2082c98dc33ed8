package command

import (
	"context"
	"encoding/csv"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

// A list is one of the service's lists, and how it is shown to people.
type list[T any] struct {
	path  string
	query url.Values
	none  string // what is said of an empty list
	of    string // the path of what the list is of, if the service gives an empty list also of what does not exist
	head  string // of the table
	row   func(T) string
	// columns are those of a CSV file, and record a line of it; nil: the list is shown as a table.
	columns []string
	record  func(T) []string
}

// limited declares how many items of a list are shown. Nobody is shown more than they asked for.
func limited(cmd *cobra.Command, most *uint, otherwise uint) {
	cmd.Flags().UintVar(most, "limit", otherwise, "how many at most; 0 for all")
}

// print reads the first items of the list, all of them with 0, and prints them.
func (l list[T]) print(ctx context.Context, a *app, c *api.Client, most uint) error {
	read, err := c.List(ctx, l.path, l.query, int(most))
	if err == nil && len(read.Items) == 0 && l.of != "" {
		_, err = c.Do(ctx, api.Request{Method: http.MethodGet, Path: l.of})
	}
	if err != nil {
		return err
	}
	return l.printed(a, read)
}

// printed prints items that were read: as a table, with --json as one document, or as CSV. It says what is left out.
func (l list[T]) printed(a *app, read api.List) error {
	if a.json {
		return a.showDocument(read)
	}
	if l.columns != nil {
		return l.printedCSV(a, read)
	}
	if len(read.Items) == 0 {
		a.note("%s", l.none)
		return nil
	}
	items, err := api.Items[T](read)
	if err != nil {
		return err
	}
	rows := []string{l.head}
	for _, item := range items {
		rows = append(rows, l.row(item))
	}
	if err := a.table(rows...); err != nil {
		return err
	}
	a.noteMore(read)
	return nil
}

func (a *app) noteMore(read api.List) {
	if read.More {
		a.note("wavegate: there are more; --limit 0 for all")
	}
}

// printedCSV prints items as CSV, also if there are none.
func (l list[T]) printedCSV(a *app, read api.List) error {
	items, err := api.Items[T](read)
	if err != nil {
		return err
	}
	w := csv.NewWriter(a.Out)
	records := [][]string{l.columns}
	for _, item := range items {
		records = append(records, l.record(item))
	}
	err = w.WriteAll(records)
	a.noteMore(read)
	return err
}

// inSheet is a text that others wrote, as a cell that neither steers a terminal nor is a formula in a spreadsheet.
func inSheet(text string) string {
	text = printable(text)
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
