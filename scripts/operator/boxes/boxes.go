// Package boxes has the commands for boxes: to list and explain them, register them from files or let them register
// themselves, and give them tokens.
package boxes

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/rollouts"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/production/machine"
)

// See are the commands that show boxes.
func See(r *run.Run) []*cobra.Command { return []*cobra.Command{list(r), why(r), pins(r), releases(r)} }

// Commands are the commands that change boxes.
func Commands(r *run.Run) []*cobra.Command {
	return []*cobra.Command{box(r), register(r), imports(r), enrol(r), tokens(r), gatewayToken(r), pin(r), unpin(r), retire(r), labels(r)}
}

// ofBoxes are the states of boxes that no rollout has, and silent is one that only a rollout has.
var ofBoxes = []string{"frequent", "mislabelled", "restless", "trouble", "waiting"}

const silent = "silent"

func list(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "boxes [CHANNEL]", Short: "List boxes: all, those of a channel, or those of its rollout in one state",
		Example: "wavegate boxes --part 0564\nwavegate boxes --factory munich-1 --state trouble\nwavegate boxes --state waiting\n" +
			"wavegate boxes gateway-x/stable --state failed\nwavegate boxes gateway-x/stable --csv --limit 0",
	}
	asCSV := cmd.Flags().Bool("csv", false, "print a CSV file; without the --state of a rollout it has the columns that register reads")
	state := cmd.Flags().String("state", "", "with CHANNEL, only those of its rollout that are offered, working, deferred, installed, failed, reverted or silent; "+
		"without, only those whose last offer is in such a state, or that are waiting for their factory or group, or restless, or frequent (they call more than twice as often as told), or mislabelled (they say what they run in other words), or trouble: failed, reverted or restless")
	pinned := cmd.Flags().Bool("pinned", false, "only those with a pin")
	query := map[string]*string{}
	for _, f := range [][3]string{
		{"prefix", "idPrefix", "only those with ids that begin like this"}, {"part", "idPart", "only those with this `text` in their ids"},
		{"organization", "organizationId", "only those of an `organization`"}, {"factory", "factoryId", "only those in a `factory`"},
		{"runs", "version", "only those that say they run a `version`"},
		{"attribute", "attribute", "only those with an attribute, such as board=C, by their registration or as they say themselves"},
	} {
		query[f[1]] = cmd.Flags().String(f[0], "", f[2])
	}
	most := run.Limited(cmd, 1000)
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		if *asCSV && r.JSON {
			return run.Fail(run.Misused, "give --csv or --json, not both")
		}
		if of := *query["attribute"]; of != "" && !strings.ContainsAny(of, "=:") {
			return run.Fail(run.Misused, "--attribute is a name and a value, such as board=C, and not %q", of)
		}
		*query["attribute"] = strings.Replace(*query["attribute"], "=", ":", 1)
		of := run.Query()
		if len(c.Args) > 0 {
			of = run.OnChannel(c.Args[0])
		}
		chosen := false
		for name, value := range query {
			if *value != "" {
				of.Set(name, *value)
				chosen = true
			}
		}
		if *pinned {
			of.Set("pinned", "true")
			chosen = true
		}
		inRollout := *state != "" && !slices.Contains(ofBoxes, *state) && len(c.Args) > 0
		switch {
		case inRollout && chosen:
			return run.Fail(run.Misused, "give the --state of a rollout, or choose boxes of the channel")
		case inRollout:
			return ofRollout(ctx, c, *state, *asCSV, *most)
		case *state == silent:
			return run.Fail(run.Misused, "boxes are silent in a rollout: give its CHANNEL, too, such as: wavegate boxes gateway-x/stable --state silent")
		case *state != "" && !slices.Contains(edge.States, *state):
			return run.Fail(run.Misused, "--state is one of %s or, with a CHANNEL, %s", strings.Join(edge.States, ", "), silent)
		case *state != "":
			of.Set("state", *state)
			chosen = true
		}
		return ofFleet(c, of, chosen, *asCSV).Print(ctx, c, *most)
	})
}

// ofFleet is the list of boxes that a query asks for, all of a channel unless they are chosen.
func ofFleet(c *run.Call, query url.Values, chosen, asCSV bool) run.List[edge.Shown] {
	l := run.List[edge.Shown]{
		Path: "/api/edges", Query: query, None: "there is no box", Head: "BOX|CHANNEL|ORGANIZATION|FACTORY|RUNS|STATE",
		Row: func(b edge.Shown) []any {
			return []any{b.EdgeID, b.Pair(), b.OrganizationID, b.FactoryID, b.Running, standing(b)}
		},
	}
	if len(c.Args) > 0 {
		l.None, l.Of = "no box is on "+c.Args[0], api.ChannelPath(c.Args[0])
	}
	if chosen {
		l.None = "there is no such box"
	}
	if asCSV {
		l.Columns = []string{"edgeId", "edgeType", "channel", "organizationId", "factoryId", attributes}
		l.Record = func(b edge.Shown) []string {
			return []string{b.EdgeID, b.EdgeType, b.Channel, b.OrganizationID, b.FactoryID, attributesText(b.Attributes)}
		}
	}
	return l
}

// standing is the state of a box's last offer or, in a list of waiting boxes, for what it waits.
func standing(b edge.Shown) string {
	text := "waits for its " + b.Waits
	switch b.Waits {
	case "":
		return b.State
	case calendar.ForOptOut:
		text = "waits for the end of an opt-out"
	}
	if b.OpensAt != nil {
		text += " until " + terminal.Clock(*b.OpensAt)
	}
	return text
}

// ofRollout lists the boxes of a channel's rollout in a state.
func ofRollout(ctx context.Context, c *run.Call, state string, asCSV bool, most uint) error {
	l, err := rollouts.In(ctx, c, c.Args[0], state)
	if err != nil {
		return err
	}
	if asCSV {
		l.Columns = []string{"edgeId", "stage", "version", "state", "since", "running", "attempts", "code", "detail", "lastSeenAt"}
		l.Record = func(b census.Box) []string {
			seen := ""
			if b.LastSeenAt != nil {
				seen = timestamp.Text(*b.LastSeenAt)
			}
			return []string{b.EdgeID, strconv.Itoa(b.Stage), b.Version, string(b.State), timestamp.Text(b.Since),
				run.InSheet(b.Running), strconv.Itoa(b.Attempts), string(b.Code), run.InSheet(b.Detail), seen}
		}
	}
	return l.Print(ctx, c, most)
}

func box(r *run.Run) *cobra.Command {
	manifest := &cobra.Command{
		Use: "manifest BOX", Short: "Show what a box would be told if it polled now",
		Long:    "Shows what a box would be told if it polled now, without recording a poll. wavegate why explains the reason.",
		Example: "wavegate box manifest box-0017 --installed 1.0.0",
	}
	installed := manifest.Flags().String("installed", "", "the `version` that it would report as installed")
	return run.Group("box", "See a box, register it, or move it",
		r.Shows(&cobra.Command{Use: "show BOX", Short: "Show a box", Example: "wavegate box show box-0017"}, "/api/edges/%s"),
		history(r), set(r), assume(r),
		r.Calls(manifest, func(ctx context.Context, c *run.Call) error {
			return c.Read(ctx, c.Path("/api/edges/%s/update/manifest"), run.Query("installed", *installed))
		}))
}

func set(r *run.Run) *cobra.Command {
	const attribute = "attribute"
	cmd := &cobra.Command{
		Use: "set BOX", Short: "Register a box, or move it to another channel or factory",
		Long: "Registers a box, or changes it. Omitted fields stay unchanged. A box that moves is told the version of its new channel " +
			"at its next poll. To register many boxes from a file, use wavegate register.",
		Example: "wavegate box set box-0017 --channel gateway-x/stable --organization acme \\\n    --factory munich-1\n" +
			"wavegate box set box-0017 --channel gateway-x/canary",
	}
	channel := cmd.Flags().String("channel", "", "the `channel` that it follows, such as gateway-x/stable")
	cmd.Flags().String("organization", "", "the `organization` that it belongs to")
	cmd.Flags().String("factory", "", "the `factory` where it is installed; '' for none")
	cmd.Flags().String("group", "", "the `group` of its factory that is told one box after another, such as a pair; '' for none")
	departure := cmd.Flags().String("departure", "", "the `reason` why it leaves its factory although its machines have versions")
	cmd.Flags().String("issuer", "", "the `issuer` of its tokens; '' for the service's own")
	given := cmd.Flags().StringArray(attribute, nil, "one of all its attributes, such as board=C; '' for none")
	return r.Sets(cmd, func(args []string) (run.Change, error) {
		wish := run.Given(cmd, map[string]string{"organization": "organizationId", "factory": "factoryId", "group": "group", "issuer": "issuer"})
		for _, name := range []string{"factoryId", "group", "issuer"} {
			if wish[name] == "" {
				wish[name] = nil
			}
		}
		if *departure != "" {
			wish["departure"] = map[string]string{"reason": *departure}
		}
		if cmd.Flags().Changed(attribute) {
			all, err := attributesOf(*given)
			if err != nil {
				return run.Change{}, run.Fail(run.Misused, "%w", err)
			}
			wish[attributes] = all
		}
		if *channel != "" {
			if err := run.Channel(*channel); err != nil {
				return run.Change{}, err
			}
			wish["edgeType"], wish["channel"], _ = api.ChannelName(*channel)
		}
		return run.Change{What: "box " + args[0], Path: api.EdgePath(args[0]), Wish: wish}, nil
	})
}

func retire(r *run.Run) *cobra.Command {
	return r.Takes(&cobra.Command{
		Use: "retire BOX", Short: "Retire a box", Example: "wavegate retire box-0017",
		Long: "Retires a box: it disappears from all lists and counts, and its polls are refused.",
	}, func(ctx context.Context, c *run.Call) (run.Step, error) {
		id, path := c.Args[0], c.Path("/api/edges/%s")
		b, answer, err := api.Get[edge.Edge](ctx, c, path, nil)
		return run.Step{
			Question: "Retire " + id + " of " + b.OrganizationID + ", which follows " + b.Pair() + "?", Done: id + " is retired",
			Request: api.Request{Method: http.MethodDelete, Path: path, IfMatch: answer.Header.Get("ETag")},
			Adds:    left(id),
		}, err
	})
}

// left says for which machines a box can no longer speak.
func left(box string) func(api.Response) (string, error) {
	return func(answer api.Response) (string, error) {
		if answer.Status != http.StatusOK {
			return "", nil
		}
		var l machine.Left
		err := answer.Into(&l)
		if l.Unknown {
			return "wavegate: the machines that " + box + " spoke for could not be read; look for them with wavegate machines list", err
		}
		return "wavegate: these machines hear of no recall until they have another box: " + terminal.Printable(strings.Join(l.Machines, ", ")), err
	}
}

func gatewayToken(r *run.Run) *cobra.Command {
	return run.Group("gateway-token", "Give the gateway of an organization a token, or end it", gatewayTokenSet(r),
		r.Takes(&cobra.Command{
			Use: "delete ORGANIZATION", Short: "End all tokens of the gateway of an organization immediately",
			Example: "wavegate gateway-token delete acme",
		}, func(_ context.Context, c *run.Call) (run.Step, error) {
			return run.Step{
				Question: "End all tokens of the gateway of " + c.Args[0] + "? Its boxes without a token of their own can no longer poll.", Name: c.Args[0],
				Request: api.Request{Method: http.MethodDelete, Path: c.Path(gatewayPath)}, Done: "the tokens of the gateway of " + c.Args[0] + " have ended",
			}, nil
		}))
}

const gatewayPath = "/api/organizations/%s/gateway-token"

func gatewayTokenSet(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "set ORGANIZATION --sha256 HASH", Short: "Give the gateway of an organization a token, by its SHA-256",
		Long: "Gives the gateway of an organization a token. Only the SHA-256 of the token is sent. The previous token stays valid " +
			"until 24 hours after the first call with the new one. A gateway calls for all boxes of its organization that have no " +
			"token of their own. shared/access/README.md says how to make a token.",
		Example: "wavegate gateway-token set acme \\\n    --sha256 6deff27d5384b3f21add1fe9e186d2a5da492550f98c62f83f3ec47fc2347145",
	}
	hash := cmd.Flags().String("sha256", "", "the SHA-256 of the token, in hexadecimal")
	run.Required(cmd, "sha256")
	return r.Takes(cmd, func(_ context.Context, c *run.Call) (run.Step, error) {
		request := api.Request{Method: http.MethodPut, Path: c.Path(gatewayPath), Body: map[string]any{"tokenSha256": *hash}}
		return run.Step{
			Question: "Give the gateway of " + c.Args[0] + " the token with the SHA-256 " + *hash + "?", Done: "the gateway of " + c.Args[0] + " has the token",
			Request: request,
		}, run.Acceptable(request.Method, request.Path, request.Body)
	})
}
