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

// A list is one of the service's lists, and how to show it.
type list[T any] struct {
	path  string
	query url.Values
	none  string // the message for an empty list
	of    string // the path of the listed thing's owner, if the service also answers with an empty list when that does not exist
	head  string // of the table
	row   func(T) string
	// columns are those of a CSV file, and record makes a line of it; nil: the list is shown as a table.
	columns []string
	record  func(T) []string
}

// limited declares the option for the most items that are shown.
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

// printed prints items that were read: as a table, with --json as one document, or as CSV. It says whether there are
// more.
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

// printedCSV prints items as CSV, even if there are none.
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

// inSheet makes a text that others wrote safe as a cell: it contains no terminal control and is not a spreadsheet
// formula.
func inSheet(text string) string {
	text = printable(text)
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
