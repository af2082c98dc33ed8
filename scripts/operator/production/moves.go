package production

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/shared/production/method"
)

// A details function adds a move's own fields to the body and returns the question, which the person confirms by the
// version's name, METHOD:VERSION. Without a question, nothing is asked.
type details func(ctx context.Context, c *run.Call, body map[string]any) (question string, err error)

// moves are the commands that move a version to another status.
func moves(r *run.Run) []*cobra.Command {
	move := func(name, short, status, example string, more func(cmd *cobra.Command) details) *cobra.Command {
		cmd := &cobra.Command{
			Use: name + " FACTORY METHOD VERSION --reason TEXT", Short: short,
			Example: "wavegate methods " + name + ofMethod + " 3 \\\n   " + example + " --reason 'the inspection passed'",
		}
		reason := whySigned(cmd)
		run.Required(cmd, "reason")
		add := more(cmd)
		return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
			body := map[string]any{"status": status, "reason": *reason}
			question, err := add(ctx, c, body)
			if err != nil {
				return err
			}
			if question != "" {
				if err := c.AskName(c.Args[1]+":"+c.Args[2], "version "+c.Args[2]+": "+question); err != nil {
					return err
				}
			}
			answer, err := c.Do(ctx, api.Request{Method: http.MethodPatch, Path: c.Path(versionPath), Body: body})
			if err != nil {
				return err
			}
			return outcome(c, answer)
		})
	}
	return []*cobra.Command{
		move("submit", "Submit a draft for approval", "in_review", "", plain),
		move("return", "Return a version to its authors", "draft", "", plain),
		move("trial", "Put a version on trial on exactly these machines", "trial", " --machine press-1 --machine press-2", trial),
		move("release", "Release a version to all machines", "released", "", release),
		move("withdraw", "Withdraw a version", "withdrawn", " --orders finish", withdraw),
	}
}

// plain is a move without details.
func plain(*cobra.Command) details {
	return func(context.Context, *run.Call, map[string]any) (string, error) { return "", nil }
}

// signed adds the hash of the content that the person approves, and begins the question. It says which units the content has, and
// which of them are probably not meant.
func signed(ctx context.Context, c *run.Call, body map[string]any) (question string, err error) {
	v, _, err := api.Get[method.Shown](ctx, c, c.Path(versionPath), nil)
	if err != nil {
		return "", err
	}
	body["contentSha256"] = v.ContentSHA256
	var units []string
	for _, code := range slices.Sorted(maps.Keys(v.Units)) {
		units = append(units, code+" "+v.Units[code])
	}
	if len(units) > 0 {
		c.Note("its units are %s", strings.Join(units, ", "))
	}
	for _, d := range v.Doubts {
		c.Note("is it meant? %s: %s", d.Pointer, d.Detail)
	}
	return fmt.Sprintf("sign its content %.12s…", v.ContentSHA256), nil
}

func trial(cmd *cobra.Command) details {
	machines := cmd.Flags().StringSlice("machine", nil, "a machine of the trial; can be repeated")
	from := cmd.Flags().String("from", "", "when it begins; by default, immediately")
	run.Required(cmd, "machine")
	return func(ctx context.Context, c *run.Call, body map[string]any) (string, error) {
		body["machines"] = *machines
		if *from != "" {
			body["effectiveFrom"] = *from
		}
		question, err := signed(ctx, c, body)
		return question + ", for a trial on " + strings.Join(*machines, ", ") + ".", err
	}
}

func release(cmd *cobra.Command) details {
	from := cmd.Flags().String("from", "", "when it begins; by default, immediately")
	article := cmd.Flags().String("first-article", "", "the inspection record of the first article; required after a trial")
	return func(ctx context.Context, c *run.Call, body map[string]any) (string, error) {
		if *from != "" {
			body["effectiveFrom"] = *from
		}
		if *article != "" {
			body["firstArticle"] = map[string]string{"reference": *article}
		}
		question, err := signed(ctx, c, body)
		return question + ", and release it to all machines.", err
	}
}

func withdraw(cmd *cobra.Command) details {
	orders := cmd.Flags().String("orders", "stop", "what becomes of orders under way: stop or finish")
	reinstate := cmd.Flags().Int64("reinstate", 0, "an older released `version` that holds again")
	return func(_ context.Context, _ *run.Call, body map[string]any) (string, error) {
		body["orders"] = *orders
		question := "withdraw it for good; orders under way " + *orders + "."
		if *reinstate > 0 {
			body["reinstate"] = *reinstate
			question += fmt.Sprintf(" Version %d holds again.", *reinstate)
		}
		return question, nil
	}
}

// outcome reports the result of a move.
func outcome(c *run.Call, answer api.Response) error {
	var o method.Moved
	if err := answer.Into(&o); err != nil {
		return err
	}
	return c.Either(answer, func() error {
		was := ""
		if !o.Changed {
			was = ", as before"
		}
		orders := map[method.Orders]string{method.Stop: "; orders under way stop", method.Finish: "; orders under way may finish"}[o.Version.Orders]
		c.Say("version %d is %s%s%s", o.Version.Version.Version, stateOf(o.Version), orders, was)
		for _, h := range o.Holds {
			where := "all machines that no trial covers"
			if len(h.Machines) > 0 {
				where = strings.Join(h.Machines, ", ")
			}
			c.Say("version %d holds on %s", h.Version, where)
		}
		if len(o.Holds) == 0 {
			c.Say("no version holds")
		}
		if len(o.Waiting) > 0 {
			c.Say("these machines wait for a signature: %s", strings.Join(o.Waiting, ", "))
		}
		return nil
	})
}
