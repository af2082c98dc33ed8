package boxes

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
)

func imports(r *run.Run) *cobra.Command {
	return run.Group("import", "Register the boxes of another server, with their tokens", importHawkbit(r), importFile(r))
}

// wishes are what a person says of an import.
type wishes struct {
	channel, organization, rooms string
	dry                          bool
	arrival
}

const importLong = "Boxes keep their ids and their tokens; they are told nothing new until they have said what they run. " +
	"Each box that cannot come is named, and then nothing is sent. Boxes that have come already stay as they are, so the command can be " +
	"repeated and continued. infra/hawkbit.md tells the whole way."

func (w *wishes) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.channel, "channel", "", "the `channel` that boxes follow, such as gateway-x/stable")
	cmd.Flags().StringVar(&w.organization, "organization", "", "the `organization` of the boxes")
	cmd.Flags().StringVar(&w.rooms, "by", "", "a CSV `file` with other channels and organizations for some boxes: the columns channel, organizationId, and tag or edgeId; a tag may also be a type of targets")
	cmd.Flags().BoolVar(&w.dry, "dry-run", false, "say what would be done, and send nothing")
	cmd.Flags().BoolVar(&w.weak, "weak", false, "take tokens of fewer than 20 characters, too; they are marked until they are replaced")
	cmd.Flags().BoolVar(&w.trusted, "trust-installed", false, "trust what the other server says that boxes run, until they say it themselves")
}

// read reads where boxes go, and all faults of that.
func (w *wishes) read() (err error) {
	if w.rooms != "" {
		if w.arrival.rooms, err = roomsIn(w.rooms); err != nil {
			return err
		}
	}
	if w.channel != "" || w.organization != "" {
		w.arrival.rooms = append(w.arrival.rooms, room{channel: w.channel, organization: w.organization})
	}
	if len(w.arrival.rooms) == 0 {
		return run.Fail(run.Misused, "give --channel and --organization, or --by")
	}
	for _, r := range w.arrival.rooms {
		if err := run.Channel(r.channel); err != nil {
			return err
		}
		if !input.Name.Accepts(r.organization) {
			return run.Fail(run.Misused, "%q is not an organization: it must be %s", r.organization, input.Name.Says)
		}
	}
	return nil
}

// tags are those by which boxes get another channel.
func (w *wishes) tags() (tags []string) {
	for _, r := range w.arrival.rooms {
		if r.kind != "" && !slices.Contains(tags, r.kind) {
			tags = append(tags, r.kind)
		}
	}
	return tags
}

func importHawkbit(r *run.Run) *cobra.Command {
	var w wishes
	cmd := &cobra.Command{
		Use: "hawkbit URL", Short: "Register the boxes of a hawkBit server",
		Long: "Registers the boxes of a hawkBit server, which it reads by the Management API at the URL. Set WAVEGATE_HAWKBIT to user:password " +
			"of somebody who may read targets and their tokens. " + importLong,
		Example: "wavegate import hawkbit https://hawkbit.acme.example --channel gateway-x/stable --organization acme --dry-run",
	}
	w.flags(cmd)
	attributes := cmd.Flags().StringArray("attribute", nil, "an `attribute` to register; by default boxes say theirs themselves")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		from, err := url.Parse(strings.TrimSuffix(c.Args[0], "/"))
		if err != nil || from.Host == "" || from.Scheme != "https" && from.Scheme != "http" {
			return run.Fail(run.Misused, "%q is not the URL of a server", c.Args[0])
		}
		if err := w.read(); err != nil {
			return err
		}
		h := hawkbit{url: from.String(), auth: c.Getenv("WAVEGATE_HAWKBIT"), http: c.HTTP}
		own, gateway, err := h.switches(ctx)
		switch {
		case err != nil:
			return err
		case !own && gateway == "":
			return run.Fail(run.Refused, "%s takes no tokens (authentication.targettoken.enabled, authentication.gatewaytoken.enabled), so no box can come with one", h.url)
		case gateway != "" && len(gateway) < boxtoken.LeastForeign:
			return run.Fail(run.Refused, "%s has a gateway's token of fewer than %d characters, which can be guessed; give it another one there", h.url, boxtoken.LeastForeign)
		case gateway != "" && !fits("any", gateway):
			return run.Fail(run.Refused, "%s has a gateway's token that can never be the right one: %s; give it another one there", h.url, tokenForm)
		}
		w.gateway = gateway
		if from.Scheme != "https" || from.Port() != "" && from.Port() != "443" {
			c.Note("wavegate: boxes that call %s cannot come over by DNS: that needs https at port 443", h.url)
		}
		if w.above, err = h.lastAction(ctx); err != nil {
			return err
		}
		guests, err := h.guests(ctx, w.tags(), *attributes, w.trusted)
		if err != nil {
			return err
		}
		return w.send(ctx, c, guests)
	})
}

func importFile(r *run.Run) *cobra.Command {
	var w wishes
	cmd := &cobra.Command{
		Use: "csv FILE", Short: "Register the boxes of another server that a file lists",
		Long:    "Registers the boxes that a CSV file lists: edgeId and token, and optionally tag, version and attributes. " + importLong,
		Example: "wavegate import csv goosebit.csv --channel gateway-x/stable --organization acme --dry-run",
	}
	w.flags(cmd)
	cmd.Flags().Int64Var(&w.above, "actions-above", 0, "the highest number of an action at the other server")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		if err := w.read(); err != nil {
			return err
		}
		rows, err := columnsIn(c.Args[0], "edgeId", "token")
		var guests []guest
		for i, row := range rows {
			g := guest{id: row["edgeId"], token: row["token"], version: row["version"]}
			if row["tag"] != "" {
				g.kinds = []string{row["tag"]}
			}
			if row[attributes] != "" && err == nil {
				if g.attributes, err = attributesIn(row[attributes]); err != nil {
					err = run.Fail(run.Misused, "%s: row %d: %w", c.Args[0], i+1, err)
				}
			}
			guests = append(guests, g)
		}
		if err != nil {
			return err
		}
		return w.send(ctx, c, guests)
	})
}

// send registers boxes that have not come yet, once all can come.
func (w *wishes) send(ctx context.Context, c *run.Call, guests []guest) error {
	c.Patiently()
	w.above = max(w.above, min(w.above+report.LeastAction, report.MostAction)) // the other server goes on until the turn
	boxes, bad := w.plan(guests)
	none, err := unreleased(ctx, c, boxes)
	if err != nil {
		return err
	}
	if bad = append(bad, none...); len(bad) > 0 {
		return c.BadLines(bad, "nothing was sent")
	}
	came, err := w.came(ctx, c)
	if err != nil {
		return err
	}
	channels := map[string]int{}
	all := len(boxes)
	boxes = slices.DeleteFunc(boxes, func(b boxLine) bool { return came[b.fields["edgeId"]] })
	versions, known := map[string]int{}, 0
	for _, b := range boxes {
		channels[b.fields["edgeType"]+"/"+b.fields["channel"]+" of "+b.fields["organizationId"]]++
		if v := versionOf(b); v.text != "" {
			versions[v.edgeType+" "+v.text]++
			known++
		}
	}
	c.Say("%s there, %d came already, %d come now: %s", terminal.Boxes(all), all-len(boxes), len(boxes), counted(channels, 5, "on", "channel"))
	c.Say("%d of them are told nothing new until they say what they run; their actions are above %d", len(boxes)-known, w.above)
	if known > 0 {
		c.Say("as the other server says, %s", counted(versions, 20, "run", "version"))
	}
	if w.gateway != "" {
		c.Say("the gateway's token there becomes that of the gateway of %s, if that has none; it speaks for each box until that calls with its own", strings.Join(w.organizations(), ", "))
	}
	if w.dry || len(boxes) == 0 {
		return nil
	}
	if err := c.Ask(fmt.Sprintf("Register %s?", terminal.Boxes(len(boxes)))); err != nil {
		return err
	}
	if err := w.openGateways(ctx, c); err != nil {
		return err
	}
	s := &sending{Call: c, file: boxFile{boxes: len(boxes)}}
	for batch := range slices.Chunk(boxes, atOnce) {
		if err := s.one(ctx, batch); err != nil {
			return err
		}
		s.Boxes += len(batch)
		s.draw()
	}
	s.redraw("")
	c.Say("%s registered, %d moved or changed, %d unchanged", terminal.Boxes(s.Tally.Registered), s.Tally.Reassigned, s.Tally.Unchanged)
	if len(s.Bad) > 0 {
		return c.BadLines(s.Bad, "all others were sent")
	}
	return nil
}

// organizations are those that get boxes.
func (w *wishes) organizations() (all []string) {
	for _, r := range w.arrival.rooms {
		if !slices.Contains(all, r.organization) {
			all = append(all, r.organization)
		}
	}
	return all
}

// openGateways gives the gateways of the organizations the token of the one there. One that has a token keeps it: the token that it replaced
// would end a day later.
func (w *wishes) openGateways(ctx context.Context, c *run.Call) error {
	if w.gateway == "" {
		return nil
	}
	for _, organization := range w.organizations() {
		hash := boxtoken.Hash(w.gateway)
		_, err := c.Do(ctx, api.Request{Method: http.MethodPut, Path: api.Path(gatewayPath, organization), Body: map[string]any{"tokenSha256": hash}, IfNoneMatch: "*"})
		switch {
		case run.Changed(err):
			c.Note("wavegate: the gateway of %s has a token already, which stays. If that is not the one there, calls with the one there are refused; "+
				"wavegate gateway-token set %s --sha256 %s replaces it", organization, organization, hash)
		case err != nil:
			return err
		}
	}
	return nil
}

// came are the imported boxes that the organizations have.
func (w *wishes) came(ctx context.Context, c *run.Call) (map[string]bool, error) {
	came := map[string]bool{}
	for _, organization := range w.organizations() {
		list, err := api.All[edge.Edge](ctx, c.Client, "/api/edges", run.Query("organizationId", organization), 0)
		if err != nil {
			return nil, err
		}
		for _, b := range list {
			if b.Imported != nil {
				came[b.EdgeID] = true
			}
		}
	}
	return came, nil
}

func assume(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "assume BOX --version VERSION", Short: "Say what a box from another server runs, if it does not say it",
		Long:    "Says what a box that was imported runs, so that it is told what comes next. It counts until the box says it itself.",
		Example: "wavegate box assume box-0017 --version 1.4.0",
	}
	version := cmd.Flags().String("version", "", "the `version` that it runs")
	run.Required(cmd, "version")
	return r.Sets(cmd, func(args []string) (run.Change, error) {
		return run.Change{What: "box " + args[0], Path: api.EdgePath(args[0]), Wish: map[string]any{"imported": map[string]any{"version": *version}},
			Done: args[0] + " counts as running " + *version}, nil
	})
}
