package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) tokens() *cobra.Command {
	return group("tokens", "See, renew and end the tokens of boxes", a.tokensList(), a.tokensRenew(), a.tokensDelete())
}

// A tokenUse has the dates of a box's tokens and of their use.
type tokenUse struct {
	EdgeID string     `json:"edgeId"`
	SetAt  *time.Time `json:"tokenSetAt,omitempty"`
	First  *time.Time `json:"tokenFirstUsedAt,omitempty"`
	Last   *time.Time `json:"tokenLastUsedAt,omitempty"`
}

// said returns, as text, which token a box uses and when it last used one.
func (u tokenUse) said() (which, last string) {
	switch {
	case u.SetAt == nil:
		return "", ""
	case u.Last == nil:
		return "none yet", ""
	case u.First == nil:
		return "the previous one", u.Last.Format(time.DateOnly)
	}
	return "this one since " + u.First.Format(time.DateOnly), u.Last.Format(time.DateOnly)
}

func (a *app) tokensList() *cobra.Command {
	var s selection
	var used bool
	var most uint
	cmd := &cobra.Command{
		Use: "list [BOX...]", Short: "List boxes with the day on which each got its token",
		Example: "  wavegate tokens list box-0017\n  wavegate tokens list --channel gateway-x/stable --used",
		Long: "Lists boxes with the day on which each got its token. With --used, it also shows whether a box uses this token or the\n" +
			"previous one, and the day of the last call with either. That takes one call to the service for each box.",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			c.Patience = max(c.Patience, patience)
			atMost := -1
			if most > 0 {
				atMost = int(most) + 1
			}
			boxes, err := s.boxes(ctx, c, args, atMost)
			if err != nil {
				return err
			}
			l := list[tokenUse]{none: "there is no such box", head: cells("BOX", "TOKEN OF"), row: func(u tokenUse) string { return cells(u.EdgeID, u.day()) }}
			if used {
				l.head, l.row = cells("BOX", "TOKEN OF", "USES", "LAST CALL"), func(u tokenUse) string {
					which, last := u.said()
					return cells(u.EdgeID, u.day(), which, last)
				}
			}
			read := api.List{Items: []json.RawMessage{}, More: most > 0 && len(boxes) > int(most)}
			if read.More {
				boxes = boxes[:most]
			}
			for _, b := range boxes {
				u, err := s.tokenOf(ctx, c, b, used)
				if err != nil {
					return fmt.Errorf("%s: %w", b.EdgeID, err)
				}
				text, err := json.Marshal(u)
				if err != nil {
					return err
				}
				read.Items = append(read.Items, text)
			}
			return l.printed(a, read)
		}),
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&used, "used", false, "show which token a box uses, and since when")
	limited(cmd, &most, 1000)
	return cmd
}

// day returns the day on which a box got its token.
func (u tokenUse) day() string {
	if u.SetAt == nil {
		return "none"
	}
	return u.SetAt.Format(time.DateOnly)
}

// tokenOf reads the dates of a box's tokens. The list of a channel's boxes already has the day of the token.
func (s *selection) tokenOf(ctx context.Context, c *api.Client, b box, used bool) (u tokenUse, err error) {
	id := b.EdgeID
	if s.channel == "" {
		if b, _, err = api.Get[box](ctx, c, api.EdgePath(id), nil); err != nil {
			return u, err
		}
	}
	if used && b.TokenSetAt != nil {
		if u, _, err = api.Get[tokenUse](ctx, c, api.EdgePath(id)+"/update/why", nil); err != nil {
			return u, err
		}
	}
	u.EdgeID, u.SetAt = id, b.TokenSetAt
	return u, nil
}

func (a *app) tokensRenew() *cobra.Command {
	var s selection
	var dir string
	cmd := &cobra.Command{
		Use: "renew [BOX...] --make-tokens DIR", Short: "Give boxes new tokens",
		Long: "Gives boxes new tokens.\n" + tokenFiles + "\n\n" +
			"Use a new directory each time. An existing file is used, so that the command can be repeated if it was interrupted.\n\n" +
			"A box's previous token stays valid until 24 hours after its first call with the new one, and for at most 30 days. So\n" +
			"bring the new tokens to the boxes within 30 days; wavegate tokens list --used shows which boxes use them. A new token\n" +
			"that the box has not used yet is replaced immediately.",
		Example: "  wavegate tokens renew box-0017 box-0018 --make-tokens tokens-2\n  wavegate tokens renew --channel gateway-x/stable --make-tokens tokens-2",
		RunE: a.run(func(ctx context.Context, args []string) error {
			if dir == "" {
				return fail(Misused, "give the directory of the new tokens with --make-tokens")
			}
			tokens, err := a.newTokens(dir)
			if err != nil {
				return err
			}
			c, boxes, err := a.chosen(ctx, s, args)
			if err != nil {
				return err
			}
			for _, b := range boxes {
				tokens.look(b.EdgeID, boxLine{fields: map[string]string{"edgeId": b.EdgeID}})
			}
			if len(tokens.bad) > 0 {
				return a.badLines(tokens.bad, "nothing was sent")
			}
			question := fmt.Sprintf("Replace the tokens of %s%s? Their present ones stay valid for at most 30 days.", s.said(boxes), tokens.with())
			if s.whole() {
				err = a.askName(s.channel, question)
			} else {
				err = a.ask(question)
			}
			if err == nil {
				err = tokens.dir.Prepare()
			}
			if err != nil {
				return err
			}
			return a.renew(ctx, c, boxes, tokens)
		}),
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&dir, "make-tokens", "", "a file for each new token, in the `directory`")
	return cmd
}

// renew gives boxes the tokens of a directory. Each token is on the disk before its hash is sent.
func (a *app) renew(ctx context.Context, c *api.Client, boxes []box, tokens *newTokens) error {
	var done []string
	var missing []string
	for i, b := range boxes {
		list, made, err := tokens.dir.Hashes([]string{b.EdgeID})
		tokens.made += made
		if err == nil {
			_, err = c.Do(ctx, api.Request{Method: http.MethodPut, Path: api.EdgePath(b.EdgeID) + "/token", Body: map[string]string{"tokenSha256": list[0]}})
		}
		switch {
		case isMissing(err):
			missing = append(missing, b.EdgeID+": there is no such box")
		case err != nil:
			a.note("wavegate: %d of %d boxes were done; run the command again to continue", i, len(boxes))
			return err
		default:
			done = append(done, b.EdgeID)
		}
	}
	if a.json {
		return a.result(map[string]any{"renewed": len(done), "made": tokens.made, "missing": len(missing)}, missing)
	}
	a.say("%d %s in %s; %d of them %s new", len(done), noun(len(done), "box has the token", "boxes have the tokens"), tokens.dir.Path, tokens.made, noun(tokens.made, "is", "are"))
	return a.result(nil, missing)
}

func (a *app) tokensDelete() *cobra.Command {
	var s selection
	cmd := &cobra.Command{
		Use: "delete [BOX...]", Short: "End all tokens of boxes immediately",
		Example: "  wavegate tokens delete box-0017\n  wavegate tokens delete --file stolen.csv",
		Long:    "Ends all tokens of boxes immediately. A box that has no other access cannot poll until it has another token.",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, boxes, err := a.chosen(ctx, s, args)
			if err != nil {
				return err
			}
			if err := a.askName(s.name(boxes), "End all tokens of "+s.said(boxes)+"? They can no longer poll with them."); err != nil {
				return err
			}
			ended, none := 0, 0
			for i, b := range boxes {
				_, err := c.Do(ctx, api.Request{Method: http.MethodDelete, Path: api.EdgePath(b.EdgeID) + "/token"})
				switch {
				case isMissing(err):
					none++
				case err != nil:
					a.note("wavegate: %d of %d boxes were done; run the command again to continue", i, len(boxes))
					return err
				default:
					ended++
				}
			}
			if a.json {
				return a.result(map[string]any{"ended": ended, "none": none}, nil)
			}
			a.say("the tokens of %d %s have ended; %d had none", ended, noun(ended, "box", "boxes"), none)
			return nil
		}),
	}
	s.flags(cmd)
	return cmd
}

// chosen returns the boxes of a selection, and a client that may wait long.
func (a *app) chosen(ctx context.Context, s selection, args []string) (*api.Client, []box, error) {
	c, err := a.client()
	if err != nil {
		return nil, nil, err
	}
	c.Patience = max(c.Patience, patience)
	boxes, err := s.boxes(ctx, c, args, -1)
	if err == nil && len(boxes) == 0 {
		err = fail(Misused, "there is no such box")
	}
	return c, boxes, err
}

// result prints what was done if JSON is wanted, and fails if there are errors.
func (a *app) result(done map[string]any, bad []string) error {
	if done != nil {
		text, err := json.Marshal(done)
		if err != nil {
			return err
		}
		a.show(text)
	}
	if len(bad) > 0 {
		return a.badLines(bad, "all others were done")
	}
	return nil
}

// isMissing reports whether the service answered that something does not exist.
func isMissing(err error) bool {
	r, ok := errors.AsType[*api.RefusedError](err)
	return ok && r.Status == http.StatusNotFound
}
