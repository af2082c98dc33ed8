package components

import (
	"context"
	"net/http"
	"strings"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/artifacts"
	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/release"
)

// Describe says more of a release, once the person has confirmed it: also what an SBOM and a VEX document say, which are files, or empty.
func Describe(ctx context.Context, c *run.Call, wish map[string]any, sbom, vex string) error {
	edgeType, version, path := c.Args[0], c.Args[1], c.Path("/api/ota/releases/%s/%s")
	what := strings.Join(c.Args, " ")
	s := run.Step{Request: api.Request{Method: http.MethodPut, Path: path, Body: wish}, Shown: path, Done: what + " is described"}
	var bill Bill
	var err error
	if vex != "" {
		known, _, err := api.Get[release.Published](ctx, c, path, nil)
		if err == nil {
			wish["advisories"], err = Withdrawn(vex, known)
		}
		if err != nil {
			return err
		}
	}
	if sbom != "" {
		if bill, err = Read(sbom); err == nil {
			wish["documents"], err = bill.Documents(ctx, c, edgeType, version)
		}
		if err == nil {
			err = bill.Acceptable(edgeType)
		}
		if err != nil {
			return err
		}
		s.Adds = func(api.Response) (string, error) { return bill.Send(ctx, c, edgeType, version) }
	}
	if err := run.Acceptable(http.MethodPut, path, wish); err != nil {
		return err
	}
	said, err := run.Written(wish)
	if err != nil {
		return err
	}
	s.Question = "Say of " + what + ":\n" + strings.Join(run.Differences([]byte("{}"), said), "\n") + "\nContinue?"
	if sbom == "" {
		return c.Take(ctx, s)
	}
	if err := c.Ask(s.Question); err != nil {
		return err
	}
	if err := artifacts.Keep(ctx, c, edgeType, bill.File); err != nil {
		return err
	}
	s.Question = ""
	return c.Take(ctx, s)
}
