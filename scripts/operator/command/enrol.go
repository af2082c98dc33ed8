package command

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) enrol() *cobra.Command {
	return group("enrol", "Let boxes register themselves with a code",
		a.enrolCreate(), a.enrolList(), a.enrolShow(), a.enrolAccept(), a.enrolReset(), a.enrolDelete(), a.enrolRedeem())
}

const enrolments = "/api/edge-enrolments"

func enrolmentPath(id string) string { return enrolments + "/" + url.PathEscape(id) }

// An enrolment has the fields of an enrolment that the command reads.
type enrolment struct {
	ID             string     `json:"id"`
	EdgeType       string     `json:"edgeType"`
	Channel        string     `json:"channel"`
	OrganizationID string     `json:"organizationId"`
	Edges          int        `json:"edges"`
	Accepted       int        `json:"accepted"`
	ExpiresAt      time.Time  `json:"expiresAt"`
	EndedAt        *time.Time `json:"endedAt"`
	RefusedAt      *time.Time `json:"refusedAt"`
	RefusedFor     string     `json:"refusedFor"`
	Redemptions    []struct {
		EdgeID     string     `json:"edgeId"`
		RedeemedAt time.Time  `json:"redeemedAt"`
		RetiredAt  *time.Time `json:"retiredAt"`
	} `json:"redemptions"`
	Waiting []struct {
		EdgeID      string    `json:"edgeId"`
		TokenSHA256 string    `json:"tokenSha256"`
		Since       time.Time `json:"since"`
	} `json:"waiting"`
}

// state says whether boxes can still redeem their ids.
func (e enrolment) state() string {
	switch {
	case e.EndedAt != nil:
		return "ended " + clock(*e.EndedAt)
	case !time.Now().Before(e.ExpiresAt):
		return "expired " + clock(e.ExpiresAt)
	}
	return "until " + clock(e.ExpiresAt)
}

func (a *app) enrolCreate() *cobra.Command {
	var file, channel, organization, factory string
	var lasts time.Duration
	cmd := &cobra.Command{
		Use: "create --file FILE.csv --channel CHANNEL --organization O", Short: "Make a code with which listed boxes register themselves",
		Long: "Makes a code with which 1 to 1,000 boxes register themselves: those in the column edgeId of a CSV file. The code is\n" +
			"printed only once, and standard output has nothing else. Put it into the image of these boxes. Whoever has it can\n" +
			"register boxes of the list that have not registered yet, and can do nothing else.",
		Example: "  wavegate enrol create --file serials.csv --channel gateway-x/stable --organization acme >code",
		Args:    cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			if file == "" || organization == "" {
				return fail(Misused, "give --file, --channel and --organization")
			}
			if _, err := channelArg([]string{channel}); err != nil {
				return err
			}
			ids, err := idsOf(file)
			if err == nil {
				ids, err = unique(ids)
			}
			if err == nil && len(ids) == 0 {
				err = fail(Misused, "%s lists no boxes", file)
			}
			if err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			expires := time.Now().Add(lasts).UTC().Truncate(time.Second)
			if err := a.ask(fmt.Sprintf("Make a code with which %d %s on %s, in organization %s, until %s?", len(ids), noun(len(ids), "box registers itself", "boxes register themselves"), channel, organization, clock(expires))); err != nil {
				return err
			}
			edgeType, name, _ := api.ChannelName(channel)
			body := map[string]any{"edgeType": edgeType, "channel": name, "organizationId": organization, "edgeIds": ids, "expiresAt": expires}
			if factory != "" {
				body["factoryId"] = factory
			}
			return a.code(ctx, c, body)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&file, "file", "", "the boxes: a CSV `file` with a column edgeId")
	f.StringVar(&channel, "channel", "", "the `channel` that they follow, such as gateway-x/stable")
	f.StringVar(&organization, "organization", "", "the `organization` that they belong to")
	f.StringVar(&factory, "factory", "", "the `factory` where they are installed")
	f.DurationVar(&lasts, "for", 7*24*time.Hour, "how long the code is valid: 720h at most")
	return cmd
}

// code creates an enrolment and prints its code.
func (a *app) code(ctx context.Context, c *api.Client, body map[string]any) error {
	answer, err := c.Do(ctx, api.Request{Method: http.MethodPost, Path: enrolments, Body: body, Key: uuid.NewString()})
	if err != nil {
		return err
	}
	var made struct {
		ID, Code  string
		ExpiresAt time.Time
	}
	if err := answer.Into(&made); err != nil {
		return err
	}
	if made.Code == "" { // the code was in an answer that was lost
		if _, err := c.Do(ctx, api.Request{Method: http.MethodDelete, Path: enrolmentPath(made.ID)}); err != nil {
			return fmt.Errorf("the answer with the code was lost, and enrolment %s could not be ended: %w", made.ID, err)
		}
		return fail(Unknown, "the answer with the code was lost; enrolment %s was ended. Run the command again", made.ID)
	}
	if a.json {
		a.show(answer.Body)
		return nil
	}
	a.note("wavegate: enrolment %s is valid until %s; its code is shown only this once", made.ID, clock(made.ExpiresAt))
	fmt.Fprintln(a.Out, printable(made.Code))
	return nil
}

func (a *app) enrolList() *cobra.Command {
	var organization string
	var most uint
	cmd := &cobra.Command{
		Use: "list", Short: "List the enrolments of an organization, newest first", Args: cobra.NoArgs,
		Example: "  wavegate enrol list --organization acme",
		RunE: a.run(func(ctx context.Context, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			query := url.Values{}
			if organization != "" {
				query.Set("organizationId", organization)
			}
			return list[enrolment]{
				path: enrolments, query: query, none: "there are no enrolments; make one: wavegate enrol create",
				head: cells("ENROLMENT", "CHANNEL", "BOXES", "ACCEPTED", "VALID", "REFUSED"),
				row: func(e enrolment) string {
					return cells(e.ID, e.EdgeType+"/"+e.Channel, e.Edges, e.Accepted, e.state(), e.RefusedFor)
				},
			}.print(ctx, a, c, most)
		}),
	}
	cmd.Flags().StringVar(&organization, "organization", "", "the `organization`; by default, your own")
	limited(cmd, &most, 1000)
	return cmd
}

func (a *app) enrolShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ENROLMENT", Short: "Show which boxes have registered themselves, and which are waiting", Args: cobra.ExactArgs(1),
		Example: "  wavegate enrol show 0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			e, answer, err := api.Get[enrolment](ctx, c, enrolmentPath(args[0]), nil)
			if err != nil {
				return err
			}
			if a.json {
				a.show(answer.Body)
				return nil
			}
			a.say("%s/%s, organization %s, %s: %d %s listed, and %d more %s accepted; %d %s registered, %d %s waiting", e.EdgeType, e.Channel, e.OrganizationID, e.state(),
				e.Edges, noun(e.Edges, "box is", "boxes are"), e.Accepted, noun(e.Accepted, "was", "were"),
				len(e.Redemptions), noun(len(e.Redemptions), "is", "are"), len(e.Waiting), noun(len(e.Waiting), "is", "are"))
			if e.RefusedAt != nil {
				a.say("a box was refused at %s because another box has the id %s", clock(*e.RefusedAt), e.RefusedFor)
			}
			rows := []string{cells("BOX", "STATE", "SINCE", "FINGERPRINT")}
			for _, w := range e.Waiting {
				rows = append(rows, cells(w.EdgeID, "waits", clock(w.Since), w.TokenSHA256))
			}
			for _, r := range e.Redemptions {
				if r.RetiredAt != nil {
					rows = append(rows, cells(r.EdgeID, "retired", clock(*r.RetiredAt), ""))
					continue
				}
				rows = append(rows, cells(r.EdgeID, "registered", clock(r.RedeemedAt), ""))
			}
			return a.table(rows...)
		}),
	}
}

func (a *app) enrolReset() *cobra.Command {
	return &cobra.Command{
		Use: "reset ENROLMENT BOX", Short: "Retire a box that registered itself, and free its id", Args: cobra.ExactArgs(2),
		Example: "  wavegate enrol reset 0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70 SN-1",
		Long:    "Retires a box that registered itself, with its token, and frees its id: the next box that redeems it is registered.",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if err := a.askName(args[1], "Retire "+args[1]+" and free its id? The box can no longer poll."); err != nil {
				return err
			}
			if _, err = c.Do(ctx, api.Request{Method: http.MethodDelete, Path: enrolmentPath(args[0]) + "/redemptions/" + url.PathEscape(args[1])}); err == nil {
				a.say("%s is retired, and its id is free", args[1])
			}
			return err
		}),
	}
}

func (a *app) enrolDelete() *cobra.Command {
	return &cobra.Command{
		Use: "delete ENROLMENT", Short: "End an enrolment; its boxes stay registered", Args: cobra.ExactArgs(1),
		Example: "  wavegate enrol delete 0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if err := a.ask("End enrolment " + args[0] + "? Its code will no longer be valid."); err != nil {
				return err
			}
			if _, err = c.Do(ctx, api.Request{Method: http.MethodDelete, Path: enrolmentPath(args[0])}); err == nil {
				a.say("enrolment %s has ended", args[0])
			}
			return err
		}),
	}
}
