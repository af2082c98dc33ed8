package artifacts

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/artifact"
)

// Commands are all of them.
func Commands(r *run.Run) []*cobra.Command {
	return []*cobra.Command{upload(r), run.Group("artifacts", "See and delete the files that the service keeps", list(r), show(r), remove(r))}
}

func upload(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "upload FILE", Short: "Make the service keep a file, for a later publication",
		Long: "Sends a file to the service's store, unless it is there, and prints its SHA-256. Publish it later with --sha256, without the " +
			"file. A publication can also do both: wavegate publish --file.",
		Example: "wavegate upload 1.2.0.swu --edge-type gateway-x\nwavegate upload 1.2.0.swu --edge-type gateway-x --json | jq -r .sha256",
	}
	edgeType := cmd.Flags().String("edge-type", "", "the `type` of the boxes that the file is for")
	run.Required(cmd, "edge-type")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		f, err := Read(c.Args[0])
		if err == nil {
			err = Keep(ctx, c, *edgeType, f)
		}
		if err != nil {
			return err
		}
		return c.Done(ctx, api.Path(artifactPath, *edgeType, f.SHA256), "%s", f.SHA256)
	})
}

func list(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the files that the service keeps", Example: "wavegate artifacts list\nwavegate artifacts list --edge-type gateway-x",
	}
	edgeType := cmd.Flags().String("edge-type", "", "only those for boxes of this `type`")
	return run.Lists(r, cmd, 1000, func(context.Context, *run.Call) (run.List[artifact.Artifact], error) {
		return run.List[artifact.Artifact]{
			Path: "/api/ota/artifacts", Query: run.Query("edgeType", *edgeType), None: "the service keeps no file",
			Head: "TYPE|FILE|SIZE|STATE|SINCE|SHA-256", Row: func(a artifact.Artifact) []any {
				return []any{a.EdgeType, a.Filename, Bytes(a.SizeBytes), a.State, terminal.Clock(a.UpdatedAt), a.SHA256}
			},
		}, nil
	})
}

func show(r *run.Run) *cobra.Command {
	return r.Calls(&cobra.Command{
		Use: "show TYPE SHA256", Short: "Show a file that the service keeps, and what uses it",
		Example: "wavegate artifacts show gateway-x ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	}, func(ctx context.Context, c *run.Call) error {
		return c.Read(ctx, c.Path(artifactPath), run.Query("uses", "true"))
	})
}

func remove(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete TYPE SHA256", Short: "Delete a file that no box needs",
		Long: "Deletes a file that the service keeps. It is refused while something uses the file: a channel, a rollout, a pin, or boxes that run it. " +
			"With --reason, boxes do not count that only say that they run it, and were never told it. " +
			"Boxes can download it for seven days more, and an upload of the same file undoes the deletion until then.",
		Example: "wavegate artifacts delete gateway-x ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	}
	reason := cmd.Flags().String("reason", "", "`why` it goes although boxes say that they run it")
	return r.Takes(cmd, func(ctx context.Context, c *run.Call) (run.Step, error) {
		path := c.Path(artifactPath)
		a, _, err := api.Get[artifact.Artifact](ctx, c, path, nil)
		return run.Step{
			Question: "Delete " + a.Filename + ", " + Bytes(a.SizeBytes) + "? Its bytes go in seven days.",
			Request:  api.Request{Method: http.MethodDelete, Path: path, Query: run.Query("reason", *reason)},
			Done:     a.Filename + " is deleted; its bytes go in seven days", Shown: path,
		}, err
	})
}
