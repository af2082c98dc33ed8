package command

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/shared/platform/input"
)

// A selection is the boxes that a command works on: named ones, those of a file, or those of a channel.
type selection struct{ file, channel, prefix string }

func (s *selection) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.file, "file", "", "the boxes of a CSV `file`, in its column edgeId")
	cmd.Flags().StringVar(&s.channel, "channel", "", "the boxes of a `channel`, such as gateway-x/stable")
	cmd.Flags().StringVar(&s.prefix, "prefix", "", "with --channel, only those with ids that begin like this")
}

// whole reports whether the selection is a whole channel.
func (s *selection) whole() bool { return s.channel != "" && s.prefix == "" }

// name is what a person types to confirm: the channel, the box, or the number of boxes.
func (s *selection) name(boxes []box) string {
	switch {
	case s.whole():
		return s.channel
	case len(boxes) == 1:
		return boxes[0].EdgeID
	}
	return strconv.Itoa(len(boxes))
}

// said describes the boxes in a question.
func (s *selection) said(boxes []box) string {
	switch {
	case s.channel != "":
		return fmt.Sprintf("%d %s on %s", len(boxes), noun(len(boxes), "box", "boxes"), s.channel)
	case len(boxes) == 1:
		return boxes[0].EdgeID
	}
	return fmt.Sprintf("%d boxes", len(boxes))
}

// boxes returns the boxes, at most most of them unless most is negative. Boxes of a channel have all fields, others
// only their ids. All bad ids are reported together.
func (s *selection) boxes(ctx context.Context, c *api.Client, args []string, most int) (list []box, err error) {
	given := 0
	for _, is := range []bool{len(args) > 0, s.file != "", s.channel != ""} {
		if is {
			given++
		}
	}
	if given != 1 || s.prefix != "" && s.channel == "" {
		return nil, fail(Misused, "name the boxes, or give --file, or --channel with or without --prefix")
	}
	if s.channel != "" {
		return s.ofChannel(ctx, c, most)
	}
	if s.file != "" {
		if args, err = idsOf(s.file); err != nil {
			return nil, err
		}
	}
	ids, err := unique(args)
	for _, id := range ids {
		list = append(list, box{EdgeID: id})
	}
	return list, err
}

// unique returns each id once. All bad ids are reported together.
func unique(ids []string) (list []string, err error) {
	var bad []string
	seen := map[string]bool{}
	for _, id := range ids {
		switch {
		case !input.EdgeID.Accepts(id):
			bad = append(bad, fmt.Sprintf("%q is not the id of a box: it must be %s", id, input.EdgeID.Says))
		case !seen[id]:
			list = append(list, id)
		}
		seen[id] = true
	}
	if len(bad) > 0 {
		return nil, fail(Misused, "%s", strings.Join(bad, "\n"))
	}
	return list, nil
}

func (s *selection) ofChannel(ctx context.Context, c *api.Client, most int) (list []box, err error) {
	if _, err := channelArg([]string{s.channel}); err != nil {
		return nil, err
	}
	edgeType, channel, _ := api.ChannelName(s.channel)
	query := url.Values{"edgeType": {edgeType}, "channel": {channel}, "limit": {"100"}}
	if s.prefix != "" {
		query.Set("idPrefix", s.prefix)
	}
	err = c.Pages(ctx, "/api/edges", query, func(page api.Response) (bool, error) {
		var of struct{ Items []box }
		err := page.Into(&of)
		list = append(list, of.Items...)
		return most < 0 || len(list) < most, err
	})
	if err == nil && len(list) == 0 {
		_, _, err = api.Get[api.Channel](ctx, c, api.ChannelPath(s.channel), nil)
	}
	return list, err
}

// idsOf reads the column edgeId of a CSV file.
func idsOf(name string) (ids []string, err error) {
	rows, err := columnsIn(name, "edgeId")
	for _, row := range rows {
		ids = append(ids, row[0])
	}
	return ids, err
}

// columnsIn reads the wanted columns of a CSV file, which may have others.
func columnsIn(name string, wanted ...string) (rows [][]string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fail(Misused, "%w", err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	if err != nil || len(all) == 0 {
		return nil, fail(Misused, "%s: %w", name, cmp.Or(err, io.EOF))
	}
	at := make([]int, len(wanted))
	for i, column := range wanted {
		at[i] = slices.IndexFunc(all[0], func(head string) bool { return strings.TrimSpace(strings.TrimPrefix(head, "\ufeff")) == column })
		if at[i] < 0 {
			return nil, fail(Misused, "%s: the first line must name the columns; %s is missing", name, column)
		}
	}
	for _, record := range all[1:] {
		row := make([]string, len(wanted))
		for i, k := range at {
			if k < len(record) {
				row[i] = strings.TrimSpace(record[k])
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}
