package boxes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/edge"
)

func tokens(r *run.Run) *cobra.Command {
	return run.Group("tokens", "See, renew and end the tokens of boxes", tokensList(r), tokensRenew(r), tokensDelete(r))
}

// A tokenUse has the dates of a box's tokens and of their use.
type tokenUse struct {
	EdgeID string     `json:"edgeId"`
	SetAt  *time.Time `json:"tokenSetAt,omitempty"`
	First  *time.Time `json:"tokenFirstUsedAt,omitempty"`
	Last   *time.Time `json:"tokenLastUsedAt,omitempty"`
}

// day returns the day on which a box got its token.
func (u tokenUse) day() string {
	if u.SetAt == nil {
		return "none"
	}
	return u.SetAt.Format(time.DateOnly)
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

func tokensList(r *run.Run) *cobra.Command {
	var s selection
	cmd := &cobra.Command{
		Use: "list [BOX...]", Short: "List boxes with the day on which each got its token",
		Example: "wavegate tokens list box-0017\nwavegate tokens list --channel gateway-x/stable --used",
		Long: "Lists boxes with the day on which each got its token. With --used, it also shows whether a box uses this token or the " +
			"previous one, and the day of the last call with either. That takes one call to the service for each box.",
	}
	s.flags(cmd)
	used := cmd.Flags().Bool("used", false, "show which token a box uses, and since when")
	limit := run.Limited(cmd, 1000)
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		most, atMost := int(*limit), 0
		if most > 0 {
			atMost = most + 1 // one more shows whether there are more
		}
		boxes, err := s.boxes(ctx, c.Patiently(), c.Args, atMost)
		if err != nil {
			return err
		}
		l := run.List[tokenUse]{None: "there is no such box", Head: "BOX|TOKEN OF", Row: func(u tokenUse) []any { return []any{u.EdgeID, u.day()} }}
		if *used {
			l.Head, l.Row = "BOX|TOKEN OF|USES|LAST CALL", func(u tokenUse) []any {
				which, last := u.said()
				return []any{u.EdgeID, u.day(), which, last}
			}
		}
		read := api.List{Items: []json.RawMessage{}, More: most > 0 && len(boxes) > most}
		if read.More {
			boxes = boxes[:most]
		}
		for _, b := range boxes {
			u, err := s.tokenOf(ctx, c, b, *used)
			if err != nil {
				return fmt.Errorf("%s: %w", b.EdgeID, err)
			}
			text, err := json.Marshal(u)
			if err != nil {
				return err
			}
			read.Items = append(read.Items, text)
		}
		return l.Printed(c.Run, read)
	})
}

// tokenOf reads the dates of a box's tokens. The list of a channel's boxes already has the day of the token.
func (s *selection) tokenOf(ctx context.Context, c *run.Call, b edge.Edge, used bool) (u tokenUse, err error) {
	id := b.EdgeID
	if s.channel == "" {
		if b, _, err = api.Get[edge.Edge](ctx, c, api.EdgePath(id), nil); err != nil {
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

func tokensRenew(r *run.Run) *cobra.Command {
	var s selection
	cmd := &cobra.Command{
		Use: "renew [BOX...] --make-tokens DIR", Short: "Give boxes new tokens",
		Long: "Gives boxes new tokens. " + tokenFiles + "\n\n" +
			"Use a new directory each time. An existing file is used, so that the command can be repeated if it was interrupted.\n\n" +
			"A box's previous token stays valid until 24 hours after its first call with the new one, and for at most 30 days. So " +
			"bring the new tokens to the boxes within 30 days; wavegate tokens list --used shows which boxes use them. A new token " +
			"that the box has not used yet is replaced immediately.",
		Example: "wavegate tokens renew box-0017 box-0018 --make-tokens tokens-2\nwavegate tokens renew --channel gateway-x/stable --make-tokens tokens-2",
	}
	s.flags(cmd)
	dir := cmd.Flags().String("make-tokens", "", "a file for each new token, in the `directory`")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		if *dir == "" {
			return run.Fail(run.Misused, "give the directory of the new tokens with --make-tokens")
		}
		tokens, err := tokensIn(c.Run, *dir)
		if err != nil {
			return err
		}
		boxes, err := s.chosen(ctx, c)
		if err != nil {
			return err
		}
		for _, b := range boxes {
			tokens.look(b.EdgeID, boxLine{fields: map[string]string{"edgeId": b.EdgeID}})
		}
		if len(tokens.bad) > 0 {
			return c.BadLines(tokens.bad, "nothing was sent")
		}
		confirm := ""
		if s.whole() {
			confirm = s.channel
		}
		err = c.AskName(confirm, fmt.Sprintf("Replace the tokens of %s%s? Their present ones stay valid for at most 30 days.", s.said(boxes), tokens.with()))
		if err == nil {
			err = tokens.dir.Prepare()
		}
		if err != nil {
			return err
		}
		return renew(ctx, c, boxes, tokens)
	})
}

// renew gives boxes the tokens of a directory. Each token is on the disk before its hash is sent.
func renew(ctx context.Context, c *run.Call, boxes []edge.Edge, tokens *newTokens) error {
	done, missing, err := each(c, boxes, func(b edge.Edge) error {
		list, made, err := tokens.dir.Hashes([]string{b.EdgeID})
		tokens.made += made
		if err == nil {
			_, err = c.Do(ctx, api.Request{Method: http.MethodPut, Path: api.EdgePath(b.EdgeID) + "/token", Body: map[string]string{"tokenSha256": list[0]}})
		}
		return err
	})
	if err == nil && c.JSON {
		err = c.ShowDocument(map[string]any{"renewed": done, "made": tokens.made, "missing": len(missing)})
	}
	if err != nil {
		return err
	}
	c.Say("%d %s in %s; %d of them %s new", done, noun(done, "box has the token", "boxes have the tokens"), tokens.dir.Path, tokens.made, noun(tokens.made, "is", "are"))
	for i := range missing {
		missing[i] += ": there is no such box"
	}
	if len(missing) > 0 {
		return c.BadLines(missing, "all others were done")
	}
	return nil
}

// each does something to boxes, and returns the number of those for which it was done and the ids of those that do not
// exist. If it cannot go on, it says how far it came.
func each(c *run.Call, boxes []edge.Edge, do func(edge.Edge) error) (done int, missing []string, err error) {
	for i, b := range boxes {
		switch err := do(b); {
		case run.Missing(err):
			missing = append(missing, b.EdgeID)
		case err != nil:
			c.Note("wavegate: %d of %d boxes were done; run the command again to continue", i, len(boxes))
			return done, missing, err
		default:
			done++
		}
	}
	return done, missing, nil
}

func tokensDelete(r *run.Run) *cobra.Command {
	var s selection
	cmd := &cobra.Command{
		Use: "delete [BOX...]", Short: "End all tokens of boxes immediately",
		Example: "wavegate tokens delete box-0017\nwavegate tokens delete --file stolen.csv",
		Long:    "Ends all tokens of boxes immediately. A box that has no other access cannot poll until it has another token.",
	}
	s.flags(cmd)
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		boxes, err := s.chosen(ctx, c)
		if err != nil {
			return err
		}
		if err := c.AskName(s.name(boxes), "End all tokens of "+s.said(boxes)+"? They can no longer poll with them."); err != nil {
			return err
		}
		ended, none, err := each(c, boxes, func(b edge.Edge) error {
			answer, err := c.Do(ctx, api.Request{Method: http.MethodDelete, Path: api.EdgePath(b.EdgeID) + "/token"})
			if err != nil {
				return err
			}
			more, err := left(b.EdgeID)(answer)
			if more != "" {
				c.Note("%s", more)
			}
			return err
		})
		if err == nil && c.JSON {
			err = c.ShowDocument(map[string]any{"ended": ended, "none": len(none)})
		}
		if err == nil {
			c.Say("the tokens of %s have ended; %d had none", terminal.Boxes(ended), len(none))
		}
		return err
	})
}

// chosen returns the boxes of a selection, for calls that may wait long.
func (s *selection) chosen(ctx context.Context, c *run.Call) ([]edge.Edge, error) {
	boxes, err := s.boxes(ctx, c.Patiently(), c.Args, 0)
	if err == nil && len(boxes) == 0 {
		err = run.Fail(run.Misused, "there is no such box")
	}
	return boxes, err
}
