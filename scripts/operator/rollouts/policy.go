package rollouts

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
	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
)

// examplePolicy is a policy with every field and an explanation of each.
//
//go:embed policy.example
var examplePolicy string

func policies(r *run.Run) *cobra.Command {
	return run.Group("policy", "Show, check and set the policy by which the guard judges", policyShow(r), policyCheck(r), policySet(r))
}

const policyFiles = "A policy is a JSON object; lines that begin with // are comments. Omitted fields have their defaults."

func policyShow(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show CHANNEL|ROLLOUT", Short: "Show the policy of a rollout",
		Long: "Shows the policy of a rollout; " + ofWhich + "\n\n" +
			"With --example, it prints a policy with every field and what each means. " + policyFiles,
		Example: "wavegate policy show gateway-x/stable\nwavegate policy show --example >policy.json",
	}
	example := cmd.Flags().Bool("example", false, "print a policy with every field and what each means, and call no service")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if *example {
			return cobra.NoArgs(cmd, args)
		}
		return cobra.ExactArgs(1)(cmd, args)
	}
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		if *example {
			_, err := fmt.Fprint(r.Out, examplePolicy)
			return err
		}
		id, err := rolloutID(ctx, c, c.Args[0])
		if err != nil {
			return err
		}
		return c.Read(ctx, api.RolloutPath(id)+"/policy", nil)
	})
}

func policyCheck(r *run.Run) *cobra.Command {
	return r.Local(&cobra.Command{
		Use: "check FILE", Short: "List everything that is wrong with a policy, and send nothing",
		Long: "Lists everything that is wrong with a policy, and calls no service. The rules are the service's own. If the guard of a " +
			"service looks less often than once a minute, that service requires longer silentAfter and decideWithin.\n\n" + policyFiles,
		Example: "wavegate policy check policy.json",
	}, func(_ context.Context, args []string) error {
		p, err := policyIn(args[0], time.Minute)
		if err != nil {
			return err
		}
		if r.JSON {
			r.Show(p.JSON())
			return nil
		}
		r.Say("%s is a valid policy; it changes the default policy in:", args[0])
		lines := run.Differences(guard.Default().JSON(), p.JSON())
		if len(lines) == 0 {
			lines = []string{"  nothing"}
		}
		r.Say("%s", strings.Join(lines, "\n"))
		return nil
	})
}

// shortest is the shortest interval of a guard. The service itself reports times that are too short for its own
// guard.
const shortest = time.Second

// policyIn reads a policy from a file, for a guard with this interval.
func policyIn(name string, interval time.Duration) (guard.Policy, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return guard.Policy{}, run.Fail(run.Misused, "%w", err)
	}
	p, faults := guard.Parse(withoutComments(text), interval)
	if len(faults) > 0 {
		return p, run.Fail(run.Misused, "%s is not a valid policy:%s", name, run.FaultsOf(faults))
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

func policySet(r *run.Run) *cobra.Command {
	return r.Calls(&cobra.Command{
		Use: "set CHANNEL|ROLLOUT FILE", Short: "Set the policy by which the guard judges a rollout",
		Long: "Sets the policy of a rollout from a file. It shows what changes, and asks. The guard uses the new policy from its next " +
			"look on. Approvals of stages that are not reached yet are deleted, because they were given under the old policy.\n\n" + policyFiles,
		Example: "wavegate policy set gateway-x/stable policy.json",
	}, func(ctx context.Context, c *run.Call) error {
		p, err := policyIn(c.Args[1], shortest)
		if err != nil {
			return err
		}
		id, err := rolloutID(ctx, c, c.Args[0])
		if err != nil {
			return err
		}
		r, _, err := api.Get[rollout.Rollout](ctx, c, api.RolloutPath(id), nil)
		if err != nil {
			return err
		}
		return setPolicy(ctx, c, r, p)
	})
}

// setPolicy shows how a policy differs from the present one, asks, and sets it if nobody has changed the rollout
// since.
func setPolicy(ctx context.Context, c *run.Call, r rollout.Rollout, p guard.Policy) error {
	path, what := api.RolloutPath(r.ID)+"/policy", fmt.Sprintf("the rollout of %s on %s", r.TargetVersion, idOf(r))
	present, _, err := api.Get[json.RawMessage](ctx, c, path, nil)
	if err != nil && !run.Missing(err) {
		return err
	}
	question := "Have the guard judge " + what + ", which has no policy now, by this one:"
	lines := run.Differences([]byte("{}"), p.JSON())
	if err == nil {
		question = "Change the policy of " + what + ":"
		if lines = run.Differences(present, p.JSON()); len(lines) == 0 {
			c.Say("the policy of %s has not changed", what)
			return nil
		}
	}
	return c.Take(ctx, run.Step{
		Question: question + "\n" + strings.Join(lines, "\n") + "\nContinue?", Done: "the policy of " + what + " is set", Shown: path,
		Request: api.Request{Method: http.MethodPut, Path: path, Body: p, IfMatch: tagOf(r.Revision)},
	})
}
