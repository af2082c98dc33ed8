package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/shared/platform/input"
)

// A waitingBox is accepted by its fingerprint, which is the hash of its token.
type waitingBox struct {
	EdgeID      string `json:"edgeId"`
	TokenSHA256 string `json:"tokenSha256"`
}

func (a *app) enrolAccept() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "accept ENROLMENT [BOX FINGERPRINT]", Short: "Register waiting boxes, each by its fingerprint",
		Example: "  wavegate enrol accept 0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70 SN-2 6deff27d5384b3f21add1fe9e186d2a5da492550f98c62f83f3ec47fc2347145\n  wavegate enrol accept 0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70 --file waiting.csv",
		Long: "Registers waiting boxes. Give the whole fingerprint that the box or its station shows, not the one from wavegate enrol\n" +
			"show: somebody else may be waiting with the same id. With --file, the columns edgeId and tokenSha256 of a CSV file\n" +
			"name them.",
		Args: cobra.RangeArgs(1, 3),
		RunE: a.run(func(ctx context.Context, args []string) error {
			if len(args) == 2 || (len(args) == 3) == (file != "") {
				return fail(Misused, "give BOX and FINGERPRINT, or --file")
			}
			list, err := waitingBoxes(args[1:], file)
			if err != nil {
				return err
			}
			if bad := faults(list); len(bad) > 0 {
				return a.badLines(bad, "nothing was sent")
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			c.Patience = max(c.Patience, patience)
			if err := a.ask(fmt.Sprintf("Register %d waiting %s?", len(list), noun(len(list), "box", "boxes"))); err != nil {
				return err
			}
			done := 0
			for batch := range slices.Chunk(list, atOnce) {
				if _, err := c.Do(ctx, api.Request{Method: http.MethodPost, Path: enrolmentPath(args[0]) + "/accept", Repeatable: true, Body: map[string]any{"items": batch}}); err != nil {
					return a.refusedBoxes(err, batch, fmt.Sprintf("%d of %d boxes are registered", done, len(list)))
				}
				done += len(batch)
			}
			a.say("%d %s registered", done, noun(done, "box is", "boxes are"))
			return nil
		}),
	}
	cmd.Flags().StringVar(&file, "file", "", "a CSV `file` with the columns edgeId and tokenSha256")
	return cmd
}

// waitingBoxes returns the box that the arguments name, or those of a file.
func waitingBoxes(args []string, file string) (list []waitingBox, err error) {
	if file == "" {
		return []waitingBox{{args[0], args[1]}}, nil
	}
	rows, err := columnsIn(file, "edgeId", "tokenSha256")
	for _, row := range rows {
		list = append(list, waitingBox{row[0], row[1]})
	}
	if err == nil && len(list) == 0 {
		err = fail(Misused, "%s lists no boxes", file)
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
func (a *app) refusedBoxes(err error, batch []waitingBox, then string) error {
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
		return a.badLines(bad, then)
	}
	a.note("wavegate: %s", then)
	return err
}
