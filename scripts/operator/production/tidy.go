package production

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
)

// methodNamed finds the id of a method that a person names, in the factory before it. A name must be unique there.
func methodNamed(ctx context.Context, c *run.Call, i int) error {
	name := c.Args[i]
	if uuid.Validate(name) == nil {
		return nil
	}
	all, err := api.All[method.Method](ctx, c.Client, api.Path(factoryPath+"/production-methods", c.Args[0]), nil, 10_000)
	if err != nil {
		return err
	}
	var ids, names []string
	for _, m := range all {
		if names = append(names, m.Name); strings.EqualFold(m.Name, name) {
			ids = append(ids, m.MethodID)
		}
	}
	switch len(ids) {
	case 0:
		return run.Fail(run.Misused, "%s has no method %q%s", c.Args[0], name, terminal.DidYouMean(name, names))
	case 1:
		c.Args = slices.Clone(c.Args)
		c.Args[i] = ids[0]
		return nil
	}
	return run.Fail(run.Misused, "%s has %d methods %q; give the id of one: %s", c.Args[0], len(ids), name, strings.Join(ids, ", "))
}

// changes is a command that changes a method itself.
func changes(r *run.Run, cmd *cobra.Command, done string, body func(c *run.Call) map[string]any) *cobra.Command {
	return r.Takes(cmd, func(ctx context.Context, c *run.Call) (run.Step, error) {
		m, _, err := api.Get[method.Method](ctx, c, c.Path(methodPath), nil)
		return run.Step{
			Question: cmd.Short + ": " + m.Name + "?", Request: api.Request{Method: http.MethodPatch, Path: c.Path(methodPath), Body: body(c)},
			Done: "method " + m.Name + " " + done, Shown: c.Path(methodPath),
		}, err
	})
}

func rename(r *run.Run) *cobra.Command {
	return changes(r, &cobra.Command{
		Use: "rename FACTORY METHOD NAME", Short: "Give a method another name", Example: "wavegate methods rename munich-1 Pressing 'Pressing, two strokes'",
	}, "has another name", func(c *run.Call) map[string]any { return map[string]any{"name": c.Args[2]} })
}

func retire(r *run.Run) *cobra.Command {
	return retires(r, true, "is retired", &cobra.Command{
		Use: "retire FACTORY METHOD --reason TEXT", Short: "Say that nothing is made by a method any more",
		Long:    "Retires a method. What holds must be withdrawn first. A retired method takes no content and no approval until it is reopened.",
		Example: "wavegate methods retire munich-1 Pressing --reason 'the product is no longer made'",
	})
}

func reopen(r *run.Run) *cobra.Command {
	return retires(r, false, "can have versions again", &cobra.Command{
		Use: "reopen FACTORY METHOD --reason TEXT", Short: "Let a retired method have versions again",
		Example: "wavegate methods reopen munich-1 Pressing --reason 'spare parts'",
	})
}

// retires is a command that retires a method, or undoes that.
func retires(r *run.Run, retired bool, done string, cmd *cobra.Command) *cobra.Command {
	reason := whySigned(cmd)
	run.Required(cmd, "reason")
	return changes(r, cmd, done, func(*run.Call) map[string]any { return map[string]any{"retired": retired, "reason": *reason} })
}

// whySigned gives a command the reason that is kept with a signature.
func whySigned(cmd *cobra.Command) *string {
	return cmd.Flags().String("reason", "", "why; it is kept with your signature")
}

func scrap(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "scrap FACTORY MACHINE --reason TEXT", Short: "Say that a machine is gone",
		Long: "Says that a machine is gone, with your signature. It loses its classes, and no version holds on it. Its history stays, and recalls " +
			"show it as scrapped. With --undo, it is there again; give it its classes with wavegate machines set.",
		Example: "wavegate machines scrap munich-1 cnc-04 --reason 'sold in parts'",
	}
	reason := whySigned(cmd)
	undo := cmd.Flags().Bool("undo", false, "it is there again")
	return r.Takes(cmd, func(ctx context.Context, c *run.Call) (run.Step, error) {
		if *undo == (*reason != "") {
			return run.Step{}, run.Fail(run.Misused, "give either --reason or --undo")
		}
		m, _, err := api.Get[machine.Machine](ctx, c, c.Path(machinePath), nil)
		body, name := map[string]any{"name": m.Name, "scrapped": map[string]string{"reason": *reason}}, "machine "+c.Args[1]
		s := run.Step{
			Name: c.Args[1], Question: "sign that " + name + " is gone.", Request: api.Request{Method: http.MethodPut, Path: c.Path(machinePath), Body: body},
			Done: name + " is scrapped", Shown: c.Path(machinePath),
		}
		if *undo {
			body["scrapped"], s.Question, s.Done = nil, name+" is there again, without classes.", name+" is there again; give it its classes"
		}
		return s, err
	})
}
