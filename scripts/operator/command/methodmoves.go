package command

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

// moving makes the command of a move. details adds the move's own fields to the body and returns the question, which
// the person confirms by the version's name, METHOD:VERSION. Without a question, nothing is asked.
func (a *app) moving(use, short, status, example string, details func(ctx context.Context, c *api.Client, args []string, body map[string]any) (question string, err error)) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: use + " FACTORY METHOD VERSION --reason TEXT", Short: short, Args: cobra.ExactArgs(3),
		Example: "  wavegate methods " + use + " munich-1 " + anyMethod + " 3" + example + " --reason 'the inspection passed'",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			body := map[string]any{"status": status, "reason": reason}
			question, err := details(ctx, c, args, body)
			if err != nil {
				return err
			}
			if question != "" {
				if err := a.askName(args[1]+":"+args[2], question); err != nil {
					return err
				}
			}
			answer, err := c.Do(ctx, api.Request{Method: http.MethodPatch, Path: versionPath(args), Body: body})
			if err != nil {
				return err
			}
			return a.outcome(answer)
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; it is kept with your signature")
	_ = cmd.MarkFlagRequired("reason") // it was declared
	return cmd
}

// outcome reports the result of a move.
func (a *app) outcome(answer api.Response) error {
	var o struct {
		Changed bool
		Version methodVersion
		Holds   []struct {
			Version  int64
			Machines []string
		}
	}
	if err := answer.Into(&o); err != nil {
		return err
	}
	if a.json {
		a.show(answer.Body)
		return nil
	}
	was := ""
	if !o.Changed {
		was = ", as before"
	}
	a.say("version %d is %s%s", o.Version.Version, o.Version.state(), was)
	for _, h := range o.Holds {
		where := "all machines that no trial covers"
		if len(h.Machines) > 0 {
			where = strings.Join(h.Machines, ", ")
		}
		a.say("version %d holds on %s", h.Version, where)
	}
	if len(o.Holds) == 0 {
		a.say("no version holds")
	}
	return nil
}

func nothingMore(context.Context, *api.Client, []string, map[string]any) (string, error) {
	return "", nil
}

func (a *app) methodsSubmit() *cobra.Command {
	return a.moving("submit", "Submit a draft for approval", "in_review", "", nothingMore)
}

func (a *app) methodsReturn() *cobra.Command {
	return a.moving("return", "Return a version to its authors", "draft", "", nothingMore)
}

// signing adds the hash of the content that the person approves.
func signing(ctx context.Context, c *api.Client, args []string, body map[string]any) error {
	answer, err := c.Do(ctx, api.Request{Method: http.MethodGet, Path: versionPath(args) + "/content"})
	if err == nil {
		body["contentSha256"] = strings.Trim(answer.Header.Get("ETag"), `"`)
	}
	return err
}

func (a *app) methodsTrial() *cobra.Command {
	var machines []string
	var from string
	cmd := a.moving("trial", "Put a version on trial on exactly these machines", "trial", " --machine press-1 --machine press-2",
		func(ctx context.Context, c *api.Client, args []string, body map[string]any) (string, error) {
			body["machines"] = machines
			if from != "" {
				body["effectiveFrom"] = from
			}
			err := signing(ctx, c, args, body)
			return fmt.Sprintf("version %s: sign its content %.12s…, for a trial on %s.", args[2], body["contentSha256"], strings.Join(machines, ", ")), err
		})
	cmd.Flags().StringSliceVar(&machines, "machine", nil, "a machine of the trial; can be repeated")
	cmd.Flags().StringVar(&from, "from", "", "when it begins; by default, immediately")
	_ = cmd.MarkFlagRequired("machine") // it was declared
	return cmd
}

func (a *app) methodsRelease() *cobra.Command {
	var from, article string
	cmd := a.moving("release", "Release a version to all machines", "released", "",
		func(ctx context.Context, c *api.Client, args []string, body map[string]any) (string, error) {
			if from != "" {
				body["effectiveFrom"] = from
			}
			if article != "" {
				body["firstArticle"] = map[string]string{"reference": article}
			}
			err := signing(ctx, c, args, body)
			return fmt.Sprintf("version %s: sign its content %.12s…, and release it to all machines.", args[2], body["contentSha256"]), err
		})
	cmd.Flags().StringVar(&from, "from", "", "when it begins; by default, immediately")
	cmd.Flags().StringVar(&article, "first-article", "", "the inspection record of the first article; required after a trial")
	return cmd
}

func (a *app) methodsWithdraw() *cobra.Command {
	var orders string
	var reinstate int64
	cmd := a.moving("withdraw", "Withdraw a version", "withdrawn", " --orders finish",
		func(_ context.Context, _ *api.Client, args []string, body map[string]any) (string, error) {
			body["orders"] = orders
			question := fmt.Sprintf("version %s: withdraw it for good; orders under way %s.", args[2], orders)
			if reinstate > 0 {
				body["reinstate"] = reinstate
				question += fmt.Sprintf(" Version %d holds again.", reinstate)
			}
			return question, nil
		})
	cmd.Flags().StringVar(&orders, "orders", "stop", "what becomes of orders under way: stop or finish")
	cmd.Flags().Int64Var(&reinstate, "reinstate", 0, "an older released `version` that holds again")
	return cmd
}
