package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

const (
	present bell.Secret = "a-secret-of-these-tests-that-is-long-enough"
	before  bell.Secret = "another-secret-of-these-tests-and-long-enough"
)

// A vault is a Secrets Manager with the bell's secret.
type vault struct {
	present, before bell.Secret // empty: there is none
	err             error
}

func (v *vault) GetSecretValue(_ context.Context, in *secretsmanager.GetSecretValueInput, _ ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	value := v.present
	if aws.ToString(in.VersionStage) == "AWSPREVIOUS" {
		value = v.before
	}
	if value == "" {
		return nil, &types.ResourceNotFoundException{}
	}
	return &secretsmanager.GetSecretValueOutput{SecretString: aws.String(string(value))}, v.err
}

// A store counts its reads, and fails if told to. Nothing may write.
type store struct {
	dynamo.API
	reads atomic.Int64
	err   error
}

func (s *store) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	s.reads.Add(1)
	if s.err != nil {
		return nil, s.err
	}
	return s.API.GetItem(ctx, in, o...)
}

// A world is a bell for a channel that has one release.
type world struct {
	*store
	vault  *vault
	db     *dynamo.DB
	now    time.Time
	log    bytes.Buffer
	answer handler
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Setenv("BELL_SECRET_ID", "wavegate/bell")
	w := &world{vault: &vault{present: present}, now: time.Now()}
	w.store = &store{API: dynamotest.Embedded(t)}
	w.db = dynamo.Open(w.store.API, time.Now)
	w.publish(t, "1.0.0")
	w.wire(t)
	return w
}

// wire starts a container.
func (w *world) wire(t *testing.T) {
	t.Helper()
	env := lambdahttp.Env{
		DB: dynamo.Open(w.store, time.Now), Now: func() time.Time { return w.now }, Log: slog.New(slog.NewJSONHandler(&w.log, nil)),
		Settings: setting.NewValues(boxes.BellSettings...),
	}
	w.answer = wire(env, w.vault)
	expect.OK(t, env.Settings.Err())
	w.reads.Store(0)
}

func (w *world) publish(t *testing.T, version string) {
	t.Helper()
	_, err := publication.NewStore(w.db).Publish(admission.Unlimited(t.Context()), audit.Origin{}, release.Publication{EdgeType: "gateway-x", Channel: "stable",
		CurrentVersion: version, ArtifactURL: "https://a.example/" + version, SHA256: version}, input.Preconditions{})
	expect.OK(t, err)
}

func (w *world) call(t *testing.T, method, path, tag string) events.LambdaFunctionURLResponse {
	t.Helper()
	e := events.LambdaFunctionURLRequest{RawPath: path, Headers: map[string]string{}}
	e.RequestContext.HTTP.Method, e.RequestContext.RequestID = method, "r-1"
	if tag != "" {
		e.Headers["if-none-match"] = tag
	}
	a := expect.Value(w.answer(t.Context(), e))(t)
	expect.That(t, a.Headers["Strict-Transport-Security"] != "" && a.Headers["X-Content-Type-Options"] == "nosniff",
		"%s: %v", path, a.Headers)
	return a
}

func (w *world) hear(t *testing.T, tag string) events.LambdaFunctionURLResponse {
	t.Helper()
	return w.call(t, http.MethodGet, present.Address("gateway-x", "stable").Path(), tag)
}

// hasHeaders checks some headers; an empty one is not there.
func hasHeaders(t *testing.T, a events.LambdaFunctionURLResponse, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for name := range want {
		got[name] = a.Headers[name]
	}
	expect.Equal(t, got, want, "the headers")
}

func refused(t *testing.T, a events.LambdaFunctionURLResponse, code problem.Code) {
	t.Helper()
	var d problem.Document
	if err := json.Unmarshal([]byte(a.Body), &d); err != nil || d.Code != code || a.StatusCode != d.Status || d.RequestID != "r-1" ||
		a.Headers["Content-Type"] != problem.ContentType || a.Headers["Cache-Control"] != "no-store" {
		t.Errorf("answered %d %v %s, want %s", a.StatusCode, a.Headers, a.Body, code)
	}
}

func TestBell_SaysTheSoundTheIntervalAndNobodysName(t *testing.T) {
	w := newWorld(t)
	a := w.hear(t, "")
	var body bell.Response
	expect.OK(t, json.Unmarshal([]byte(a.Body), &body))
	expect.Equal(t, a.StatusCode, http.StatusOK, "the status is")
	expect.Equal(t, len(body.Sound), 12, "the length of the sound is")
	expect.Equal(t, body, bell.Response{Sound: body.Sound, IntervalSeconds: 60, Calls: []string{}}, "the answer")
	hasHeaders(t, a, map[string]string{
		"ETag": `"` + body.Sound + `"`, "Wavegate-Interval": "60", "Cache-Control": "public, max-age=2", "Content-Type": "application/json",
	})
	bell.NewStore(w.db, 5*time.Minute, slog.Default()).Ring(admission.Unlimited(t.Context()), bell.Call{EdgeType: "gateway-x", Channel: "stable", EdgeID: "box-1"})
	w.now = w.now.Add(2 * time.Second)
	called := w.hear(t, a.Headers["ETag"])
	if called.StatusCode != http.StatusOK || !strings.Contains(called.Body, `"calls":["`+present.Call("box-1")+`"]`) || strings.Contains(called.Body, "box-1") {
		t.Errorf("answered %d %s", called.StatusCode, called.Body)
	}
}

func TestBell_NothingRang_Is304WithTheInterval(t *testing.T) {
	w := newWorld(t)
	tag := w.hear(t, "").Headers["ETag"]
	a := w.hear(t, tag)
	expect.Equal(t, a.StatusCode, http.StatusNotModified, "the status is")
	expect.Equal(t, a.Body, "", "the body is")
	hasHeaders(t, a, map[string]string{"ETag": tag, "Wavegate-Interval": "60", "Cache-Control": "public, max-age=2", "Content-Type": ""})
}

func TestBell_AContainer_ReadsTwiceInTwoSeconds_WhoeverAsks(t *testing.T) {
	w := newWorld(t)
	first := w.hear(t, "").Headers["ETag"]
	w.publish(t, "1.1.0")
	for range 100 {
		w.now = w.now.Add(19 * time.Millisecond)
		w.hear(t, "")
	}
	expect.Equal(t, w.reads.Load(), 2, "100 calls made this many reads")
	w.now = w.now.Add(200 * time.Millisecond)
	if a := w.hear(t, first); a.StatusCode != http.StatusOK || w.reads.Load() != 4 {
		t.Errorf("two seconds after the publication: %d after %d reads", a.StatusCode, w.reads.Load())
	}
}

// TestBell_WhatTheServiceDidNotMake_Is404WithoutARead: a stranger who tries names or floods the bell causes no reads.
func TestBell_WhatTheServiceDidNotMake_Is404WithoutARead(t *testing.T) {
	w := newWorld(t)
	good := present.Address("gateway-x", "stable")
	for _, path := range []string{"", "/", "/b", "/robots.txt", "/b/gateway-x/stable", "/b/gateway-x/stable/" + strings.Repeat("A", 12), good.Path() + "/", good.Path() + "%00",
		strings.Replace(good.Path(), "stable", "canary", 1), before.Address("gateway-x", "stable").Path(), "/" + strings.Repeat("x", 10_000), "/b/gateway-x/%2e%2e/" + good.Proof} {
		refused(t, w.call(t, http.MethodGet, path, ""), problem.NotFound)
	}
	refused(t, w.call(t, http.MethodPost, "/b/x/y/z", ""), problem.NotFound)
	a := w.call(t, http.MethodPost, good.Path(), "")
	refused(t, a, problem.MethodNotAllowed)
	expect.That(t, a.Headers["Allow"] == http.MethodGet && w.reads.Load() == 0 && w.log.Len() == 0,
		"%v after %d reads; the log is %s", a.Headers, w.reads.Load(), w.log.String())
}

func TestBell_TheStoreIsDown_Is503AndHasBoxesComeBackInAMinute(t *testing.T) {
	w := newWorld(t)
	w.err = errors.New("no answer")
	a := w.hear(t, "")
	refused(t, a, problem.Unavailable)
	if a.Headers["Retry-After"] != "60" || strings.Contains(a.Body, "no answer") || !strings.Contains(w.log.String(), "no answer") {
		t.Errorf("answered %v %s; the log is %s", a.Headers, a.Body, w.log.String())
	}
}

func TestBell_TheSecretBefore_StaysValid_WithItsOwnCodes(t *testing.T) {
	w := newWorld(t)
	bell.NewStore(w.db, 5*time.Minute, slog.Default()).Ring(admission.Unlimited(t.Context()), bell.Call{EdgeType: "gateway-x", Channel: "stable", EdgeID: "box-1"})
	w.vault.before = before
	w.wire(t)
	for _, s := range []bell.Secret{present, before} {
		if a := w.call(t, http.MethodGet, s.Address("gateway-x", "stable").Path(), ""); a.StatusCode != http.StatusOK || !strings.Contains(a.Body, `["`+s.Call("box-1")+`"]`) {
			t.Errorf("answered %d %s", a.StatusCode, a.Body)
		}
	}
}

func TestBell_TheSecretCannotBeRead_Is503(t *testing.T) {
	for why, v := range map[string]*vault{"none": {}, "out of reach": {present: present, err: errors.New("throttled")}, "too short": {present: "short"}} {
		w := newWorld(t)
		w.vault = v
		w.wire(t)
		a := w.hear(t, "")
		refused(t, a, problem.Unavailable)
		if a.Headers["Retry-After"] != "60" || w.reads.Load() != 0 || strings.Contains(a.Body+w.log.String(), "short\"") {
			t.Errorf("%s: %v after %d reads", why, a.Headers, w.reads.Load())
		}
	}
}
