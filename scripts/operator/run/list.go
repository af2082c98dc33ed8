package run

import (
	"context"
	"encoding/csv"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/terminal"
)

// A List is one of the service's lists, and how to show it.
type List[T any] struct {
	Path  string
	Query url.Values
	None  string // the message for an empty list
	Of    string // the path of the listed thing's owner, if the service also answers with an empty list when that does not exist
	Head  string // of the table, with the columns separated by |
	Row   func(T) []any
	// Columns are those of a CSV file, and Record makes a line of it; nil: the list is shown as a table.
	Columns []string
	Record  func(T) []string
}

// Limited declares the option for the most items that are shown.
func Limited(cmd *cobra.Command, otherwise uint) *uint {
	return cmd.Flags().Uint("limit", otherwise, "how many at most; 0 for all")
}

// Lists makes a command that prints a list, by default up to otherwise items.
func Lists[T any](r *Run, cmd *cobra.Command, otherwise uint, of func(ctx context.Context, c *Call) (List[T], error)) *cobra.Command {
	most := Limited(cmd, otherwise)
	return r.Calls(cmd, func(ctx context.Context, c *Call) error {
		l, err := of(ctx, c)
		if err != nil {
			return err
		}
		return l.Print(ctx, c, *most)
	})
}

// Query makes the query of a call from names and values. Empty values are omitted.
func Query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}

// OnChannel is the query for what is on a channel.
func OnChannel(name string, more ...string) url.Values {
	edgeType, channel, _ := api.ChannelName(name)
	return Query(append(more, "edgeType", edgeType, "channel", channel)...)
}

// Print reads the first items of the list, all of them with 0, and prints them.
func (l List[T]) Print(ctx context.Context, c *Call, most uint) error {
	read, err := c.List(ctx, l.Path, l.Query, int(most))
	if err == nil && len(read.Items) == 0 && l.Of != "" {
		if _, err = c.Get(ctx, l.Of); Forbidden(err) {
			err = nil // whoever sees one organization only does not see the channel itself
		}
	}
	if err != nil {
		return err
	}
	return l.Printed(c.Run, read)
}

// Printed prints items that were read: as a table, with --json as one document, or as CSV. It says whether there are
// more.
func (l List[T]) Printed(r *Run, read api.List) error {
	if r.JSON {
		return r.ShowDocument(read)
	}
	items, err := api.Items[T](read)
	switch {
	case err != nil:
	case l.Columns != nil:
		records := [][]string{l.Columns}
		for _, item := range items {
			records = append(records, l.Record(item))
		}
		err = csv.NewWriter(r.Out).WriteAll(records)
	case len(items) == 0:
		r.Note("%s", l.None)
	default:
		rows := []string{strings.ReplaceAll(l.Head, "|", "\t")}
		for _, item := range items {
			rows = append(rows, terminal.Cells(l.Row(item)...))
		}
		err = r.Table(rows...)
	}
	if err == nil && read.More {
		r.Note("wavegate: there are more; --limit 0 for all")
	}
	return err
}

// InSheet makes a text that others wrote safe as a cell: it contains no terminal control and is not a spreadsheet
// formula.
func InSheet(text string) string {
	text = terminal.Printable(text)
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
