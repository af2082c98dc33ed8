package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	row "wavegate/shared/operations/door"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// A store counts its reads and its writes.
type store struct {
	dynamo.API
	reads, writes atomic.Int64
}

func (s *store) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	s.reads.Add(1)
	return s.API.GetItem(ctx, in, o...)
}

func (s *store) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	s.writes.Add(1)
	return s.API.UpdateItem(ctx, in, o...)
}

// A world is a container of the door, and one box.
type world struct {
	*store
	now   time.Time
	log   bytes.Buffer
	door  *door
	token string // the box's
}

func newWorld(t testing.TB) *world {
	t.Helper()
	t.Setenv("API_URL", "https://api.example")
	w := &world{now: time.Now().UTC().Truncate(time.Millisecond)}
	w.store = &store{API: dynamotest.Embedded(t)}
	clock := func() time.Time { return w.now }
	db := dynamo.Open(w.store, clock)
	text, own := boxtoken.New(boxtoken.Box, "box-1")
	w.token = text
	known := report.Row{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", Revision: 1}
	known.Tokens.Current = own.SHA256
	expect.OK(t, report.NewStore(db, 1).Save(admission.Unlimited(t.Context()), report.Row{}, known))
	p := function.ProcessOf(lambdahttp.Env{
		DB: db, API: w.store, Now: clock, Log: slog.New(slog.NewJSONHandler(&w.log, nil)), Metrics: &bytes.Buffer{},
		Settings: setting.NewValues(row.Function.Settings...),
	})
	w.door = wire(p)
	expect.OK(t, p.Env.Settings.Err())
	w.reads.Store(0)
	w.writes.Store(0)
	return w
}

func (w *world) call(t *testing.T, method, path, authorization string) events.LambdaFunctionURLResponse {
	t.Helper()
	e := events.LambdaFunctionURLRequest{RawPath: path, Headers: map[string]string{"authorization": authorization}}
	e.RequestContext.HTTP.Method, e.RequestContext.RequestID, e.RequestContext.DomainName = method, "r-1", "door.example"
	a := expect.Value(w.door.answer(t.Context(), e))(t)
	return a
}

const poll = "/api/edges/box-1/update/manifest"

// TestDoor_AFloodOfForgedCalls_CostsAtMostOneReadEach, and no write.
func TestDoor_AFloodOfForgedCalls_CostsAtMostOneReadEach(t *testing.T) {
	w := newWorld(t)
	const flood = 10_000
	for i := range flood {
		id := []string{"box-1", fmt.Sprint("box-", i), "box-x"}[i%3] // a box that exists, others, and one again and again
		text, _ := boxtoken.New(boxtoken.Box, id)
		if a := w.call(t, http.MethodGet, "/api/edges/"+id+"/update/manifest", "Bearer "+text); a.StatusCode != http.StatusUnauthorized || a.Headers["Link"] == "" {
			t.Fatalf("answered %d %v", a.StatusCode, a.Headers)
		}
	}
	if reads := w.reads.Load(); reads > flood*2/3+2 || w.writes.Load() != 0 {
		t.Errorf("%d calls made %d reads and %d writes", flood, reads, w.writes.Load())
	}
}

// TestDoor_UnknownBox_IsRememberedForFiveSeconds.
func TestDoor_UnknownBox_IsRememberedForFiveSeconds(t *testing.T) {
	w := newWorld(t)
	text, _ := boxtoken.New(boxtoken.Box, "box-2")
	for _, c := range []struct {
		after time.Duration
		reads int64
	}{{0, 1}, {4 * time.Second, 1}, {time.Second, 2}, {time.Second, 2}} {
		w.now = w.now.Add(c.after)
		w.call(t, http.MethodGet, "/api/edges/box-2/update/manifest", "Bearer "+text)
		expect.Equal(t, w.reads.Load(), c.reads, "reads at %v:", w.now)
	}
}

// TestDoor_WhatItRemembers_IsBounded.
func TestDoor_WhatItRemembers_IsBounded(t *testing.T) {
	w := newWorld(t)
	for i := range mostUnknown + 1 {
		w.door.keeper.remember(fmt.Sprint("box-", i))
	}
	expect.Equal(t, len(w.door.keeper.unknown), 1, "ids after one too many:")
}

// TestDoor_APoll_IsOneReadOfTheBoxBesideItsChannel, whichever scheme the box sends.
func TestDoor_APoll_IsOneReadOfTheBoxBesideItsChannel(t *testing.T) {
	w := newWorld(t)
	w.call(t, http.MethodGet, poll, "Bearer "+w.token) // reads, for an hour, how many boxes there are, and leases calls of them
	for _, scheme := range []string{"Bearer", "bearer", "TargetToken"} {
		w.reads.Store(0)
		w.writes.Store(0)
		a := w.call(t, http.MethodGet, poll, scheme+" "+w.token)
		expect.Equal(t, a.StatusCode, http.StatusNotFound, "nothing is published: %s", a.Body)
		if w.reads.Load() > 2 || w.writes.Load() != 1 || !strings.Contains(a.Body, "Nothing is published") {
			t.Errorf("%s: %d reads, %d writes: %s", scheme, w.reads.Load(), w.writes.Load(), a.Body)
		}
	}
}

// TestDoor_OtherSchemesAndKinds_AreRefusedWithoutARead.
func TestDoor_OtherSchemesAndKinds_AreRefusedWithoutARead(t *testing.T) {
	w := newWorld(t)
	gateway, _ := boxtoken.New(boxtoken.Gateway, "acme")
	for _, authorization := range []string{"", "Bearer", "Bearer ", w.token, "Basic " + w.token, "GatewayToken " + w.token, "GatewayToken " + gateway,
		"Bearer " + gateway, "Bearer " + w.token + ",Bearer " + w.token, "Bearer eyJhbGciOiJub25lIn0.e30."} {
		a := w.call(t, http.MethodGet, poll, authorization)
		if a.StatusCode != http.StatusUnauthorized || a.Headers["Content-Type"] != "application/problem+json" || a.Headers["Strict-Transport-Security"] == "" {
			t.Errorf("%q: answered %d %v", authorization, a.StatusCode, a.Headers)
		}
	}
	expect.Equal(t, w.reads.Load()+w.writes.Load(), 0, "calls of the store:")
	expect.That(t, !strings.Contains(w.log.String(), strings.Split(w.token, ":")[2]), "the log has a token's secret")
}

// TestFind_TakesThePathsOfItsOperations_AndNoOthers.
func TestFind_TakesThePathsOfItsOperations_AndNoOthers(t *testing.T) {
	d := newWorld(t).door
	for path, want := range map[string]string{
		"GET /api/edges/box:1/update/manifest":                           "get-manifest box:1",
		"GET /api/edges/%2e%2e/update/manifest/":                         "get-manifest %2e%2e",
		"PUT /api/edges/box-1/update/report":                             "put-update-report box-1",
		"GET /api/ddi/acme/controller/v1/box-1":                          "get-ddi-base box-1",
		"GET /acme/controller/v1/box-1/":                                 "get-ddi-base box-1",
		"GET /acme/controller/v1/box-1/cancelAction/7":                   "get-ddi-cancel-action box-1",
		"POST /api/ddi/acme/controller/v1/b/deploymentBase/7/feedback":   "post-ddi-deployment-feedback b",
		"POST /acme/controller/v1/b/cancelAction/7/feedback":             "post-ddi-cancel-feedback b",
		"PUT /acme/controller/v1/b/configData":                           "put-ddi-config-data b",
		"POST /acme/controller/v1/b/configData":                          "METHOD_NOT_ALLOWED",
		"get /api/edges/box-1/update/manifest":                           "METHOD_NOT_ALLOWED",
		"GET /api/edges//update/manifest":                                "NOT_FOUND",
		"GET /api/edges/box-1/update/manifest//":                         "NOT_FOUND",
		"GET /prod/api/edges/box-1/update/manifest":                      "NOT_FOUND",
		"GET /api/edges/box-1":                                           "NOT_FOUND",
		"GET /":                                                          "NOT_FOUND",
		"GET ":                                                           "NOT_FOUND",
		"GET /{tenant}/controller/v1":                                    "NOT_FOUND",
		"GET /api/ota/release-channels/gateway-x/stable/update/manifest": "NOT_FOUND",
	} {
		method, path, _ := strings.Cut(path, " ")
		to, err := d.find(method, path)
		got := to.op.ID + " " + to.parameters["edgeId"] + to.parameters["controllerId"]
		if err != nil {
			got, _, _ = strings.Cut(err.Error(), ":")
		}
		expect.Equal(t, got, want, "%s %s leads to", method, path)
	}
}

// TestRoutes_AreTheOperationsThatTheDoorTakes.
func TestRoutes_AreTheOperationsThatTheDoorTakes(t *testing.T) {
	var got, want []string
	for _, r := range newWorld(t).door.routes {
		got = append(got, r.op.ID)
	}
	for _, op := range row.Takes {
		want = append(want, op.ID)
	}
	expect.Equal(t, got, want, "the door's operations")
}
