package boxes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/platform/input"
)

// enrolments is the path of the codes with which boxes register themselves, and enrolled that of one of them.
const (
	enrolments = "/api/edge-enrolments"
	enrolled   = enrolments + "/%s"
)

func enrol(r *run.Run) *cobra.Command {
	return run.Group("enrol", "Let boxes register themselves with a code", enrolCreate(r), enrolList(r), enrolShow(r), enrolAccept(r), enrolRedeem(r),
		r.Takes(&cobra.Command{
			Use: "reset ENROLMENT BOX", Short: "Retire a box that registered itself, and free its id",
			Example: "wavegate enrol reset 0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70 SN-1",
			Long:    "Retires a box that registered itself, with its token, and frees its id: the next box that redeems it is registered.",
		}, func(_ context.Context, c *run.Call) (run.Step, error) {
			id := c.Args[1]
			return run.Step{
				Question: "Retire " + id + " and free its id? The box can no longer poll.", Name: id, Done: id + " is retired, and its id is free",
				Request: api.Request{Method: http.MethodDelete, Path: c.Path(enrolled + "/redemptions/%s")}, Adds: left(id),
			}, nil
		}),
		r.Takes(&cobra.Command{
			Use: "delete ENROLMENT", Short: "End an enrolment; its boxes stay registered",
			Example: "wavegate enrol delete 0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70",
		}, func(_ context.Context, c *run.Call) (run.Step, error) {
			return run.Step{
				Question: "End enrolment " + c.Args[0] + "? Its code will no longer be valid.", Done: "enrolment " + c.Args[0] + " has ended",
				Request: api.Request{Method: http.MethodDelete, Path: c.Path(enrolled)},
			}, nil
		}))
}

// stateOf says whether boxes can still redeem their ids.
func stateOf(e enrolment.Enrolment) string {
	switch {
	case e.EndedAt != nil:
		return "ended " + clock(*e.EndedAt)
	case !time.Now().Before(e.ExpiresAt):
		return "expired " + clock(e.ExpiresAt)
	}
	return "until " + clock(e.ExpiresAt)
}

var (
	clock = terminal.Clock
	noun  = terminal.Noun
)

func enrolCreate(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "create --file FILE.csv --channel CHANNEL --organization O", Short: "Make a code with which listed boxes register themselves",
		Long: "Makes a code with which 1 to 1,000 boxes register themselves: those in the column edgeId of a CSV file. The code is " +
			"printed only once, and standard output has nothing else. Put it into the image of these boxes. Whoever has it can " +
			"register boxes of the list that have not registered yet, and can do nothing else.",
		Example: "wavegate enrol create --file serials.csv --channel gateway-x/stable \\\n    --organization acme >code",
	}
	f := cmd.Flags()
	file := f.String("file", "", "the boxes: a CSV `file` with a column edgeId")
	channel := f.String("channel", "", "the `channel` that they follow, such as gateway-x/stable")
	organization := f.String("organization", "", "the `organization` that they belong to")
	factory := f.String("factory", "", "the `factory` where they are installed")
	lasts := f.Duration("for", 7*24*time.Hour, "how long the code is valid: 720h at most")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		if *file == "" || *organization == "" {
			return run.Fail(run.Misused, "give --file, --channel and --organization")
		}
		if err := run.Channel(*channel); err != nil {
			return err
		}
		ids, err := idsOf(*file)
		if err == nil {
			ids, err = unique(ids)
		}
		if err == nil && len(ids) == 0 {
			err = run.Fail(run.Misused, "%s lists no boxes", *file)
		}
		if err != nil {
			return err
		}
		expires := time.Now().Add(*lasts).UTC().Truncate(time.Second)
		question := fmt.Sprintf("Make a code with which %d %s on %s, in organization %s, until %s?",
			len(ids), noun(len(ids), "box registers itself", "boxes register themselves"), *channel, *organization, clock(expires))
		if err := c.Ask(question); err != nil {
			return err
		}
		edgeType, name, _ := api.ChannelName(*channel)
		body := map[string]any{"edgeType": edgeType, "channel": name, "organizationId": *organization, "edgeIds": ids, "expiresAt": expires}
		if *factory != "" {
			body["factoryId"] = *factory
		}
		return code(ctx, c, body)
	})
}

// code creates an enrolment and prints its code.
func code(ctx context.Context, c *run.Call, body map[string]any) error {
	answer, err := c.Do(ctx, api.Request{Method: http.MethodPost, Path: enrolments, Body: body, Key: uuid.NewString()})
	if err != nil {
		return err
	}
	var made enrolment.Made
	if err := answer.Into(&made); err != nil {
		return err
	}
	if made.Code == "" { // the code was in an answer that was lost
		if _, err := c.Do(ctx, api.Request{Method: http.MethodDelete, Path: api.Path(enrolled, made.ID)}); err != nil {
			return fmt.Errorf("the answer with the code was lost, and enrolment %s could not be ended: %w", made.ID, err)
		}
		return run.Fail(run.Unknown, "the answer with the code was lost; enrolment %s was ended. Run the command again", made.ID)
	}
	return c.Either(answer, func() error {
		c.Note("wavegate: enrolment %s is valid until %s; its code is shown only this once", made.ID, clock(made.ExpiresAt))
		fmt.Fprintln(c.Out, terminal.Printable(made.Code))
		return nil
	})
}

func enrolList(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the enrolments of an organization, newest first", Example: "wavegate enrol list --organization acme"}
	organization := cmd.Flags().String("organization", "", "the `organization`; by default, your own")
	return run.Lists(r, cmd, 1000, func(context.Context, *run.Call) (run.List[enrolment.Enrolment], error) {
		return run.List[enrolment.Enrolment]{
			Path: enrolments, Query: run.Query("organizationId", *organization), None: "there are no enrolments; make one: wavegate enrol create",
			Head: "ENROLMENT|CHANNEL|BOXES|ACCEPTED|VALID|REFUSED",
			Row: func(e enrolment.Enrolment) []any {
				return []any{e.ID, e.EdgeType + "/" + e.Channel, e.Edges, e.Accepted, stateOf(e), e.RefusedFor}
			},
		}, nil
	})
}

func enrolShow(r *run.Run) *cobra.Command {
	return r.Calls(&cobra.Command{
		Use: "show ENROLMENT", Short: "Show which boxes have registered themselves or wait",
		Example: "wavegate enrol show 0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70",
	}, func(ctx context.Context, c *run.Call) error {
		e, answer, err := api.Get[enrolment.Details](ctx, c, c.Path(enrolled), nil)
		if err != nil {
			return err
		}
		return c.Either(answer, func() error {
			c.Say("%s/%s, organization %s, %s: %d %s listed, and %d more %s accepted; %d %s registered, %d %s waiting",
				e.EdgeType, e.Channel, e.OrganizationID, stateOf(e.Enrolment),
				e.Edges, noun(e.Edges, "box is", "boxes are"), e.Accepted, noun(e.Accepted, "was", "were"),
				len(e.Redemptions), noun(len(e.Redemptions), "is", "are"), len(e.Waiting), noun(len(e.Waiting), "is", "are"))
			if e.RefusedAt != nil {
				c.Say("a box was refused at %s because another box has the id %s", clock(*e.RefusedAt), e.RefusedFor)
			}
			rows := []string{"BOX\tSTATE\tSINCE\tFINGERPRINT"}
			for _, w := range e.Waiting {
				rows = append(rows, terminal.Cells(w.EdgeID, "waits", clock(w.Since), w.TokenSHA256))
			}
			for _, one := range e.Redemptions {
				state, since := "registered", one.RedeemedAt
				if one.RetiredAt != nil {
					state, since = "retired", *one.RetiredAt
				}
				rows = append(rows, terminal.Cells(one.EdgeID, state, clock(since), ""))
			}
			return c.Table(rows...)
		})
	})
}

// A waitingBox is accepted by its fingerprint, which is the hash of its token.
type waitingBox struct {
	EdgeID      string `json:"edgeId"`
	TokenSHA256 string `json:"tokenSha256"`
}

func enrolAccept(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept ENROLMENT [BOX FINGERPRINT]", Short: "Register waiting boxes, each by its fingerprint",
		Example: "wavegate enrol accept 0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70 SN-2 \\\n    6deff27d5384b3f21add1fe9e186d2a5da492550f98c62f83f3ec47fc2347145\n" +
			"wavegate enrol accept 0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70 --file waiting.csv",
		Long: "Registers waiting boxes. Give the whole fingerprint that the box or its station shows, not the one from wavegate enrol " +
			"show: somebody else may be waiting with the same id. With --file, the columns edgeId and tokenSha256 of a CSV file " +
			"name them.",
	}
	file := cmd.Flags().String("file", "", "a CSV `file` with the columns edgeId and tokenSha256")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		if len(c.Args) == 2 || (len(c.Args) == 3) == (*file != "") {
			return run.Fail(run.Misused, "give BOX and FINGERPRINT, or --file")
		}
		list, err := waitingBoxes(c.Args[1:], *file)
		if err != nil {
			return err
		}
		if bad := faults(list); len(bad) > 0 {
			return r.BadLines(bad, "nothing was sent")
		}
		if err := c.Patiently().Ask(fmt.Sprintf("Register %d waiting %s?", len(list), noun(len(list), "box", "boxes"))); err != nil {
			return err
		}
		done := 0
		for batch := range slices.Chunk(list, atOnce) {
			if _, err := c.Do(ctx, api.Request{Method: http.MethodPost, Path: c.Path(enrolled + "/accept"), Repeatable: true, Body: map[string]any{"items": batch}}); err != nil {
				return refusedBoxes(c, err, batch, fmt.Sprintf("%d of %d boxes are registered", done, len(list)))
			}
			done += len(batch)
		}
		c.Say("%d %s registered", done, noun(done, "box is", "boxes are"))
		return nil
	})
}

// waitingBoxes returns the box that the arguments name, or those of a file.
func waitingBoxes(args []string, file string) (list []waitingBox, err error) {
	if file == "" {
		return []waitingBox{{args[0], args[1]}}, nil
	}
	rows, err := columnsIn(file, "edgeId", "tokenSha256")
	for _, row := range rows {
		list = append(list, waitingBox{row["edgeId"], row["tokenSha256"]})
	}
	if err == nil && len(list) == 0 {
		err = run.Fail(run.Misused, "%s lists no boxes", file)
	}
	return list, err
}

// faults lists what is wrong with boxes, and rewrites their hashes in the service's form.
func faults(list []waitingBox) (bad []string) {
	for i, w := range list {
		hash, _, wrong := input.SHA256.Apply(w.TokenSHA256)
		if list[i].TokenSHA256 = hash; wrong != "" {
			bad = append(bad, fmt.Sprintf("%s: the fingerprint %s", w.EdgeID, wrong))
		}
		if !input.EdgeID.Accepts(w.EdgeID) {
			bad = append(bad, fmt.Sprintf("%q is not the id of a box", w.EdgeID))
		}
	}
	return bad
}

// refusedBoxes lists the boxes of a batch that the service refused, if it says which.
func refusedBoxes(c *run.Call, err error, batch []waitingBox, then string) error {
	var bad []string
	if refused, ok := errors.AsType[*api.RefusedError](err); ok {
		for _, f := range refused.Errors {
			at, _, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/items/"), "/")
			if i, err := strconv.Atoi(at); err == nil && i >= 0 && i < len(batch) {
				bad = append(bad, batch[i].EdgeID+": "+f.Detail)
			}
		}
	}
	if len(bad) > 0 {
		return c.BadLines(bad, then)
	}
	c.Note("wavegate: %s", then)
	return err
}
