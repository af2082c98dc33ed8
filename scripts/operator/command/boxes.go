package command

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) boxes() *cobra.Command {
	var state, prefix string
	var most uint
	var asCSV bool
	cmd := &cobra.Command{
		Use: "boxes CHANNEL", Short: "List the boxes of a channel, or those of its rollout in one state",
		Example: "  wavegate boxes gateway-x/stable --state failed\n  wavegate boxes gateway-x/stable --prefix box-00\n  wavegate boxes gateway-x/stable --csv --limit 0",
		Args:    cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, err := channelArg(args)
			if err != nil {
				return err
			}
			if state != "" && prefix != "" {
				return fail(Misused, "give --state or --prefix, not both")
			}
			if asCSV && a.json {
				return fail(Misused, "give --csv or --json, not both")
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			edgeType, channel, _ := api.ChannelName(name)
			l := list[box]{
				path: "/api/edges", query: url.Values{"edgeType": {edgeType}, "channel": {channel}}, none: "no box is on " + name, of: api.ChannelPath(name),
				head: cells("BOX", "ORGANIZATION", "FACTORY"), row: func(b box) string { return cells(b.EdgeID, b.OrganizationID, b.FactoryID) },
			}
			if prefix != "" {
				l.query.Set("idPrefix", prefix)
				l.none = "no box on " + name + " has an id that begins with " + prefix
			}
			if state != "" {
				r, err := a.latest(ctx, c, name)
				if err != nil {
					return err
				}
				l = boxesOf(r.ID, state)
				l.none = fmt.Sprintf("no box is %s in the rollout of %s on %s", state, r.TargetVersion, name)
			}
			switch {
			case asCSV && state != "":
				l.columns, l.record = progressColumns, box.progress
			case asCSV:
				l.columns, l.record = registrationColumns, box.registration
			}
			return l.print(ctx, a, c, most)
		}),
	}
	cmd.Flags().BoolVar(&asCSV, "csv", false, "print a CSV file; without --state it has the columns that register reads")
	cmd.Flags().StringVar(&state, "state", "", "only those of the rollout that are offered, working, deferred, installed, failed or reverted")
	cmd.Flags().StringVar(&prefix, "prefix", "", "only those with ids that begin like this")
	limited(cmd, &most, 1000)
	return cmd
}

// A box is a row of either list.
type box struct {
	EdgeID         string     `json:"edgeId"`
	EdgeType       string     `json:"edgeType"`
	Channel        string     `json:"channel"`
	OrganizationID string     `json:"organizationId"`
	FactoryID      string     `json:"factoryId"`
	TokenSetAt     *time.Time `json:"tokenSetAt"`
	Stage          int        `json:"stage"`
	Version        string     `json:"version"`
	State          string     `json:"state"`
	Since          string     `json:"since"`
	Running        string     `json:"running"`
	Attempts       int        `json:"attempts"`
	Code           string     `json:"code"`
	Detail         string     `json:"detail"`
}

// The columns of the CSV files of either list.
var (
	registrationColumns = []string{"edgeId", "edgeType", "channel", "organizationId", "factoryId"}
	progressColumns     = []string{"edgeId", "stage", "version", "state", "since", "running", "attempts", "code", "detail"}
)

func (b box) registration() []string {
	return []string{b.EdgeID, b.EdgeType, b.Channel, b.OrganizationID, b.FactoryID}
}

func (b box) progress() []string {
	return []string{b.EdgeID, strconv.Itoa(b.Stage), b.Version, b.State, b.Since, inSheet(b.Running), strconv.Itoa(b.Attempts), b.Code, inSheet(b.Detail)}
}
