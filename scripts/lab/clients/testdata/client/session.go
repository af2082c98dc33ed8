// Command client runs the README's first session with a client that was generated from the contract. Its arguments
// are the URL of the service, and that of a later service, which answers with a problem code and a manifest source
// that this contract does not list. Its environment has the tokens of a platform owner, two boxes and an engineer.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/google/uuid"
)

func main() {
	ctx := context.Background()
	if err := errors.Join(session(ctx, os.Args[1]), later(ctx, os.Args[2])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("done")
}

// as returns a client that sends the token in an environment variable.
func as(url, variable string) *ClientWithResponses {
	c, err := NewClientWithResponses(url, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv(variable))
		return nil
	}))
	if err != nil {
		panic(err)
	}
	return c
}

// is returns an error unless a call was answered with the status.
func is(err error, got *http.Response, body []byte, status int) error {
	if err == nil && got.StatusCode != status {
		err = fmt.Errorf("%s %s: %d, want %d: %s", got.Request.Method, got.Request.URL, got.StatusCode, status, body)
	}
	return err
}

func session(ctx context.Context, url string) error {
	owner := as(url, "OWNER")
	const edgeType, stable = "gateway-x", "stable"
	before, err := owner.GetReleaseChannelWithResponse(ctx, edgeType, stable, nil)
	if err := is(err, before.HTTPResponse, before.Body, 200); err != nil {
		return err
	}
	if before.JSON200.CurrentVersion != "1.0.0" || before.Headers200.ETag != `"1"` {
		return fmt.Errorf("the channel is %+v", before.JSON200)
	}
	published, err := owner.PublishReleaseWithResponse(ctx, edgeType, "canary", nil, Publication{
		CurrentVersion: "1.1.0",
		ArtifactUrl:    ptr(ArtifactUrl("https://artifacts.example.com/gateway-x/1.1.0.tar.gz")),
		Sha256:         ptr(Sha256(strings.Repeat("0b", 32))),
	})
	if err := is(err, published.HTTPResponse, published.Body, 201); err != nil {
		return err
	}
	started, err := owner.StartRolloutWithResponse(ctx, &StartRolloutParams{IdempotencyKey: ptr("roll-1.1.0")},
		RolloutPlan{EdgeType: edgeType, Channel: stable, TargetVersion: "1.1.0"})
	if err := is(err, started.HTTPResponse, started.Body, 201); err != nil {
		return err
	}
	id := uuid.MustParse(path.Base(started.Headers201.Location))
	if err := promote(ctx, owner, id); err != nil {
		return err
	}
	if err := boxes(ctx, owner, url, id); err != nil {
		return err
	}
	for _, move := range []RolloutMove{
		{StagedPercent: ptr(N50)},
		{StagedPercent: ptr(N100), Status: ptr(RolloutMoveStatusCompleted)},
	} {
		moved, err := owner.UpdateRolloutWithResponse(ctx, id, nil, move)
		if err := is(err, moved.HTTPResponse, moved.Body, 204); err != nil {
			return err
		}
	}
	r, err := owner.GetRolloutWithResponse(ctx, id, nil)
	if err := is(err, r.HTTPResponse, r.Body, 200); err != nil {
		return err
	}
	if r.JSON200.Status != "completed" || r.JSON200.StagedPercent != 100 || r.JSON200.EndedAt == nil || r.JSON200.PreviousVersion != "1.0.0" {
		return fmt.Errorf("the rollout is %+v", r.JSON200)
	}
	after, err := owner.GetReleaseChannelWithResponse(ctx, edgeType, stable, nil)
	if err := is(err, after.HTTPResponse, after.Body, 200); err != nil {
		return err
	}
	if after.JSON200.CurrentVersion != "1.1.0" || after.JSON200.Revision != 2 {
		return fmt.Errorf("the channel is %+v", after.JSON200)
	}
	return methods(ctx, url)
}

// promote raises the rollout to 10, and then tries to skip a stage, which is refused with a problem.
func promote(ctx context.Context, owner *ClientWithResponses, id uuid.UUID) error {
	raised, err := owner.UpdateRolloutWithResponse(ctx, id, nil, RolloutMove{StagedPercent: ptr(N10)})
	if err := is(err, raised.HTTPResponse, raised.Body, 204); err != nil {
		return err
	}
	skipped, err := owner.UpdateRolloutWithResponse(ctx, id, nil, RolloutMove{StagedPercent: ptr(N100)})
	if err := is(err, skipped.HTTPResponse, skipped.Body, 409); err != nil {
		return err
	}
	if code := skipped.ApplicationproblemJSON409.Code; string(code) != "INVALID_STATE_TRANSITION" {
		return fmt.Errorf("the problem is %s", code)
	}
	return nil
}

// boxes polls as a box in the cohort and as one outside it.
func boxes(ctx context.Context, owner *ClientWithResponses, url string, id uuid.UUID) error {
	for box, want := range map[string]Manifest{
		"box-0027": {Version: "1.1.0", Source: "rollout", RolloutId: &id},
		"box-0001": {Version: "1.0.0", Source: "channel"},
	} {
		put, err := owner.PutEdgeWithResponse(ctx, box, nil, EdgeDraft{EdgeType: "gateway-x", Channel: "stable", OrganizationId: "acme"})
		if err := is(err, put.HTTPResponse, put.Body, 201); err != nil {
			return err
		}
		itself := as(url, strings.ToUpper(strings.ReplaceAll(box, "-", "_")))
		poll, err := itself.GetManifestWithResponse(ctx, box, &GetManifestParams{Installed: ptr("1.0.0")})
		if err := is(err, poll.HTTPResponse, poll.Body, 200); err != nil {
			return err
		}
		if got := poll.JSON200; got.Version != want.Version || got.Source != want.Source || (got.RolloutId == nil) != (want.RolloutId == nil) {
			return fmt.Errorf("%s is told %+v", box, got)
		}
		again, err := itself.GetManifestWithResponse(ctx, box, &GetManifestParams{Installed: ptr("1.0.0"), IfNoneMatch: poll.Headers200.ETag})
		if err := is(err, again.HTTPResponse, again.Body, 304); err != nil {
			return err
		}
	}
	return nil
}

// methods creates a production method, reads it back, and finds it in the list.
func methods(ctx context.Context, url string) error {
	engineer := as(url, "ENGINEER")
	product := uuid.MustParse("7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11")
	created, err := engineer.CreateProductionMethodWithResponse(ctx, "munich-1", nil, MethodDraft{ProductId: product, Name: "Milling"})
	if err := is(err, created.HTTPResponse, created.Body, 201); err != nil {
		return err
	}
	id := uuid.MustParse(path.Base(created.Headers201.Location))
	read, err := engineer.GetProductionMethodWithResponse(ctx, "munich-1", id, nil)
	if err := is(err, read.HTTPResponse, read.Body, 200); err != nil {
		return err
	}
	list, err := engineer.ListProductionMethodsWithResponse(ctx, "munich-1", &ListProductionMethodsParams{ProductId: &product})
	if err := is(err, list.HTTPResponse, list.Body, 200); err != nil {
		return err
	}
	if len(list.JSON200.Items) != 1 || list.JSON200.Items[0] != *read.JSON200 || read.JSON200.Name != "Milling" || list.JSON200.Next != nil {
		return fmt.Errorf("the list is %+v, the method %+v", list.JSON200, read.JSON200)
	}
	return nil
}

// later reads values that this contract does not list.
func later(ctx context.Context, url string) error {
	poll, err := as(url, "BOX_0027").GetManifestWithResponse(ctx, "box-0027", nil)
	if err := is(err, poll.HTTPResponse, poll.Body, 200); err != nil {
		return err
	}
	refused, err := as(url, "OWNER").GetReleaseChannelWithResponse(ctx, "gateway-x", "stable", nil)
	if err := is(err, refused.HTTPResponse, refused.Body, 404); err != nil {
		return err
	}
	if source, code := poll.JSON200.Source, refused.ApplicationproblemJSON404.Code; source != "from-tomorrow" || code != "FROM_TOMORROW" {
		return fmt.Errorf("the source is %s, the problem %s", source, code)
	}
	return nil
}

func ptr[T any](v T) *T { return &v }
