package command

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/shared/fleet/guard"
)

// examplePolicy is a policy with every field and an explanation of each.
//
//go:embed policy.example
var examplePolicy string

func (a *app) policy() *cobra.Command {
	return group("policy", "Show, check and set the policy by which the guard judges a rollout", a.policyShow(), a.policyCheck(), a.policySet())
}

const policyFiles = "A policy is a JSON object; lines that begin with // are comments. Omitted fields have their defaults."

func (a *app) policyShow() *cobra.Command {
	var example bool
	cmd := a.onRollout("show", "Show the policy of a rollout", "With --example, it prints a policy with every field and what each means.\n"+policyFiles,
		"  wavegate policy show gateway-x/stable\n  wavegate policy show --example >policy.json",
		func(ctx context.Context, _ *api.Client, id string) error {
			return a.read(ctx, api.RolloutPath(id)+"/policy", nil)
		})
	one := cmd.RunE
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if example {
			return cobra.NoArgs(cmd, args)
		}
		return cobra.ExactArgs(1)(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !example {
			return one(cmd, args)
		}
		_, err := fmt.Fprint(a.Out, examplePolicy)
		return err
	}
	cmd.Flags().BoolVar(&example, "example", false, "print a policy with every field and what each means, and call no service")
	return cmd
}

func (a *app) policyCheck() *cobra.Command {
	const use = "check FILE"
	return &cobra.Command{
		Use: use, Short: "List everything that is wrong with a policy, and send nothing", Args: exactly(use),
		Long: "Lists everything that is wrong with a policy, and calls no service. The rules are the service's own. If the guard of a\n" +
			"service looks less often than once a minute, that service requires longer silentAfter and decideWithin.\n\n" +
			"" + policyFiles,
		Example: "  wavegate policy check policy.json",
		RunE: a.run(func(_ context.Context, args []string) error {
			p, err := policyIn(args[0], time.Minute)
			if err != nil {
				return err
			}
			if a.json {
				a.show(p.JSON())
				return nil
			}
			a.say("%s is a valid policy; it changes the default policy in:", args[0])
			lines := differences(guard.Default().JSON(), p.JSON())
			if len(lines) == 0 {
				lines = []string{"  nothing"}
			}
			a.say("%s", strings.Join(lines, "\n"))
			return nil
		}),
	}
}

// shortest is the shortest interval of a guard. The service itself reports times that are too short for its own
// guard.
const shortest = time.Second

// policyIn reads a policy from a file, for a guard with this interval.
func policyIn(name string, interval time.Duration) (guard.Policy, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return guard.Policy{}, fail(Misused, "%w", err)
	}
	p, faults := guard.Parse(withoutComments(text), interval)
	if len(faults) > 0 {
		return p, fail(Misused, "%s is not a valid policy:%s", name, faultsOf(faults))
	}
	return p, nil
}

// withoutComments drops the lines that begin with //. JSON never has such lines, because its strings contain no line
// ends.
func withoutComments(text []byte) []byte {
	var kept [][]byte
	for _, line := range bytes.Split(text, []byte("\n")) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("//")) {
			line = nil
		}
		kept = append(kept, line)
	}
	return bytes.Join(kept, []byte("\n"))
}

func (a *app) policySet() *cobra.Command {
	const use = "set CHANNEL|ROLLOUT FILE"
	return &cobra.Command{
		Use: use, Short: "Set the policy by which the guard judges a rollout", Args: exactly(use),
		Long: "Sets the policy of a rollout from a file. It shows what changes, and asks. The guard uses the new policy from its next\n" +
			"look on. Approvals of stages that are not reached yet are deleted, because they were given under the old policy.\n\n" +
			"" + policyFiles,
		Example: "  wavegate policy set gateway-x/stable policy.json",
		RunE: a.run(func(ctx context.Context, args []string) error {
			p, err := policyIn(args[1], shortest)
			if err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			id, err := a.rolloutID(ctx, c, args[0])
			if err != nil {
				return err
			}
			r, _, err := api.Get[api.Rollout](ctx, c, api.RolloutPath(id), nil)
			if err != nil {
				return err
			}
			return a.setPolicy(ctx, c, r, p)
		}),
	}
}

// setPolicy shows how a policy differs from the present one, asks, and sets it if nobody has changed the rollout
// since.
func (a *app) setPolicy(ctx context.Context, c *api.Client, r api.Rollout, p guard.Policy) error {
	path, what := api.RolloutPath(r.ID)+"/policy", fmt.Sprintf("the rollout of %s on %s", r.TargetVersion, r.ChannelID())
	present, _, err := api.Get[json.RawMessage](ctx, c, path, nil)
	if err != nil && !isMissing(err) {
		return err
	}
	question := "Have the guard judge " + what + ", which has no policy now, by this one:"
	lines := differences([]byte("{}"), p.JSON())
	if err == nil {
		question = "Change the policy of " + what + ":"
		if lines = differences(present, p.JSON()); len(lines) == 0 {
			a.say("the policy of %s has not changed", what)
			return nil
		}
	}
	if err := a.ask(question + "\n" + strings.Join(lines, "\n") + "\nContinue?"); err != nil {
		return err
	}
	if _, err := c.Do(ctx, api.Request{Method: http.MethodPut, Path: path, Body: p, IfMatch: tagOf(r)}); err != nil {
		return err
	}
	a.say("the policy of %s is set", what)
	return a.shown(ctx, c, path)
}
