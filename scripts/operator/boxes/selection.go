package boxes

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/edge"
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
func (s *selection) name(boxes []edge.Edge) string {
	switch {
	case s.whole():
		return s.channel
	case len(boxes) == 1:
		return boxes[0].EdgeID
	}
	return strconv.Itoa(len(boxes))
}

// said describes the boxes in a question.
func (s *selection) said(boxes []edge.Edge) string {
	switch {
	case s.channel != "":
		return terminal.Boxes(len(boxes)) + " on " + s.channel
	case len(boxes) == 1:
		return boxes[0].EdgeID
	}
	return fmt.Sprintf("%d boxes", len(boxes))
}

// boxes returns the boxes, at most most of them; with 0, all. Boxes of a channel have all fields, others
// only their ids. All bad ids are reported together.
func (s *selection) boxes(ctx context.Context, c *run.Call, args []string, most int) (list []edge.Edge, err error) {
	given := 0
	for _, is := range []bool{len(args) > 0, s.file != "", s.channel != ""} {
		if is {
			given++
		}
	}
	if given != 1 || s.prefix != "" && s.channel == "" {
		return nil, run.Fail(run.Misused, "name the boxes, or give --file, or --channel with or without --prefix")
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
		list = append(list, edge.Edge{EdgeID: id})
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
		return nil, run.Fail(run.Misused, "%s", strings.Join(bad, "\n"))
	}
	return list, nil
}

func (s *selection) ofChannel(ctx context.Context, c *run.Call, most int) (list []edge.Edge, err error) {
	if err := run.Channel(s.channel); err != nil {
		return nil, err
	}
	list, err = api.All[edge.Edge](ctx, c.Client, "/api/edges", run.OnChannel(s.channel, "idPrefix", s.prefix), most)
	if err == nil && len(list) == 0 {
		_, err = c.Get(ctx, api.ChannelPath(s.channel))
	}
	return list, err
}
