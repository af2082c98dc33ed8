package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/cfn"
	"github.com/aws/aws-sdk-go-v2/aws"
	lambdaapi "github.com/aws/aws-sdk-go-v2/service/lambda"

	"wavegate/scripts/local/runtime"
	"wavegate/shared/platform/credentials"
	"wavegate/shared/testing/expect"
)

// built is where the function under test and the one that plays a release's functions are built.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "smoke-test")
	if err != nil {
		panic(err)
	}
	built = dir
	for name, source := range map[string]string{"smoke-test": ".", "function": "./testdata/function"} {
		build := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", filepath.Join(dir, name), source)
		if out, err := build.CombinedOutput(); err != nil {
			panic(string(out) + err.Error())
		}
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

const prefix = "wavegate-prod-"

// A region is an account's Lambda and its CloudFormation, with functions that run as processes.
type region struct {
	*httptest.Server
	functions map[string]*runtime.Function
	patience  time.Duration // of the tests that ask for a release in this process

	mu               sync.Mutex
	published, calls []string
	told             []cfn.Response
}

// newRegion makes a region with a function for each fate.
func newRegion(t *testing.T, fates map[string]string) *region {
	t.Helper()
	r := &region{functions: map[string]*runtime.Function{}}
	for name, fate := range fates {
		f := runtime.New(runtime.Spec{Name: prefix + name, Binary: filepath.Join(built, "function"), Timeout: time.Second, MemoryMB: 256, Env: []string{"FATE=" + fate}})
		t.Cleanup(f.Stop)
		r.functions[prefix+name] = f
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2015-03-31/functions/{name}/versions", r.publish)
	mux.HandleFunc("POST /2015-03-31/functions/{name}/invocations", r.invoke)
	mux.HandleFunc("PUT /told", func(_ http.ResponseWriter, q *http.Request) {
		var told cfn.Response
		err := json.NewDecoder(q.Body).Decode(&told)
		expect.That(t, err == nil, "%v", err)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told = append(r.told, told)
	})
	r.Server = httptest.NewServer(mux)
	t.Cleanup(r.Close)
	return r
}

func (r *region) publish(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	r.published = append(r.published, q.PathValue("name"))
	r.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]string{"Version": "7"})
}

// invoke calls a version's process, and reports its end as Lambda does.
func (r *region) invoke(w http.ResponseWriter, q *http.Request) {
	name, version, _ := strings.Cut(q.PathValue("name")[strings.LastIndex(q.PathValue("name"), prefix):], ":")
	r.mu.Lock()
	r.calls = append(r.calls, name+":"+version)
	r.mu.Unlock()
	f, known := r.functions[name]
	if !known {
		w.Header().Set("X-Amzn-Errortype", "ResourceNotFoundException")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"Message":"Function not found"}`)
		return
	}
	event, _ := io.ReadAll(q.Body)
	answer, err := f.Invoke(q.Context(), event)
	if err != nil {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		kind := "Runtime.ExitError"
		if errors.Is(err, runtime.ErrTimeout) {
			kind = "Sandbox.Timedout"
		}
		answer, _ = json.Marshal(map[string]string{"errorType": kind, "errorMessage": err.Error()})
	}
	_, _ = w.Write(answer)
}

// deploy asks for a new release in this process, whose patience is short, and returns what CloudFormation is told.
func (r *region) deploy(t *testing.T, publish, versions []string) cfn.Response {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	api := lambdaapi.New(lambdaapi.Options{Region: runtime.Region, Credentials: credentials.FromEnvironment(), BaseEndpoint: aws.String(r.URL), RetryMaxAttempts: 1})
	tester := tester{api: api, log: slog.New(slog.DiscardHandler), patience: r.patience}
	expect.Value(cfn.LambdaWrap(tester.answer)(t.Context(), r.request(cfn.RequestCreate, publish, versions)))(t)
	return r.last(t)
}

func (r *region) request(kind cfn.RequestType, publish, versions []string) cfn.Event {
	properties := map[string]any{"ServiceToken": "arn:aws:lambda:eu-central-1:111122223333:function:wavegate-prod-smoke-test", "Prefix": prefix}
	if publish != nil {
		properties["Publish"] = publish
	}
	if versions != nil {
		properties["Versions"] = versions
	}
	return cfn.Event{
		RequestType: kind, ResponseURL: r.URL + "/told", RequestID: "request-1", StackID: "stack-1", LogicalResourceID: "smoketest1",
		PhysicalResourceID: map[bool]string{true: "", false: "smoketest1"}[kind == cfn.RequestCreate], ResourceProperties: properties,
	}
}

func (r *region) last(t *testing.T) cfn.Response {
	t.Helper()
	expect.Must(t, len(r.told) == 1, "CloudFormation was told %d times", len(r.told))
	if told := r.told[0]; told.StackID != "stack-1" || told.RequestID != "request-1" || told.LogicalResourceID != "smoketest1" || told.PhysicalResourceID != "smoketest1" {
		t.Errorf("CloudFormation was told %+v", told)
	}
	return r.told[0]
}

func TestRelease_EveryVersionAnswers_TellsTheVersions(t *testing.T) {
	r := newRegion(t, map[string]string{"put-edge": "answers", "list-edges": "answers", "get-manifest": "answers"})
	told := r.deploy(t, []string{prefix + "put-edge", prefix + "list-edges"}, []string{"arn:aws:lambda:eu-central-1:111122223333:function:" + prefix + "get-manifest:12"})
	if told.Status != cfn.StatusSuccess || len(told.Data) != 2 || told.Data["putedge"] != "7" || told.Data["listedges"] != "7" {
		t.Errorf("CloudFormation is told %+v", told)
	}
	if calls := strings.Join(r.calls, " "); len(r.calls) != 3 || !strings.Contains(calls, "put-edge:7") || !strings.Contains(calls, "get-manifest:12") {
		t.Errorf("called were %s", calls)
	}
}

// TestRelease_OneVersionIsBad_IsRefused names the function and what it answered, whatever is wrong with it.
func TestRelease_OneVersionIsBad_IsRefused(t *testing.T) {
	for fate, want := range map[string]string{
		"ends at its start":      "put-edge, version 7: failed: Unhandled Runtime.ExitError",
		"fails":                  "put-edge, version 7: answered 500 INTERNAL",
		"answers something else": "put-edge, version 7: answered what API Gateway takes for a failure (502)",
		"hangs":                  "put-edge, version 7: failed: Unhandled Sandbox.Timedout",
	} {
		r := newRegion(t, map[string]string{"put-edge": fate, "list-edges": "answers"})
		told := r.deploy(t, []string{prefix + "put-edge", prefix + "list-edges"}, nil)
		if told.Status != cfn.StatusFailed || !strings.HasPrefix(told.Reason, "1 of the release's versions failed") || !strings.Contains(told.Reason, want) || strings.Contains(told.Reason, "list-edges") {
			t.Errorf("%s: CloudFormation is told %+v", fate, told)
		}
		expect.That(t, len(told.Data) == 0, "%s: it is told versions: %v", fate, told.Data)
	}
}

// TestRelease_AllVersionsAreBad_NamesThemWithinWhatCloudFormationTakes: an answer of 4,096 bytes at the most.
func TestRelease_AllVersionsAreBad_NamesThemWithinWhatCloudFormationTakes(t *testing.T) {
	r := newRegion(t, nil)
	var missing []string
	for range 100 {
		missing = append(missing, prefix+"put-edge")
	}
	told := r.deploy(t, missing, []string{"arn:aws:lambda:eu-central-1:111122223333:function:" + prefix + "unheard-of:1"})
	b, err := json.Marshal(told)
	if err != nil || len(b) > 4096 || !strings.HasPrefix(told.Reason, "101 of ") || !strings.Contains(told.Reason, "cannot be called") {
		t.Errorf("%d bytes: %s, %v", len(b), b, err)
	}
}

func TestRelease_ANewRightSpreadsLate_IsWaitedFor(t *testing.T) {
	r := newRegion(t, map[string]string{"list-edges": "has its permissions after a while"})
	r.patience = patience
	if told := r.deploy(t, []string{prefix + "list-edges"}, nil); told.Status != cfn.StatusSuccess || len(r.calls) != 3 {
		t.Errorf("CloudFormation is told %+v after %d calls", told, len(r.calls))
	}
}

// run runs the function itself as Lambda does.
func (r *region) run(t *testing.T, timeout time.Duration, event cfn.Event) cfn.Response {
	t.Helper()
	f := runtime.New(runtime.Spec{Name: prefix + "smoke-test", Binary: filepath.Join(built, "smoke-test"), Timeout: timeout, MemoryMB: 256, Env: []string{
		"AWS_ENDPOINT_URL=" + r.URL, "AWS_REGION=" + runtime.Region, "AWS_ACCESS_KEY_ID=AKIATEST", "AWS_SECRET_ACCESS_KEY=test",
	}})
	defer f.Stop()
	text := expect.Value(json.Marshal(event))(t)
	expect.Value(f.Invoke(context.WithoutCancel(t.Context()), text))(t)
	return r.last(t)
}

// TestRollback_AndDelete_SucceedAtOnce whatever the functions do: none is called.
func TestRollback_AndDelete_SucceedAtOnce(t *testing.T) {
	for _, kind := range []cfn.RequestType{cfn.RequestUpdate, cfn.RequestDelete} {
		r := newRegion(t, map[string]string{"put-edge": "hangs"})
		told := r.run(t, 20*time.Second, r.request(kind, []string{prefix + "put-edge"}, nil))
		if told.Status != cfn.StatusSuccess || len(r.calls)+len(r.published) > 0 {
			t.Errorf("%s: CloudFormation is told %+v; called were %v", kind, told, r.calls)
		}
	}
}

func TestRelease_TimeIsOver_CloudFormationIsToldBeforeTheFunctionEnds(t *testing.T) {
	r := newRegion(t, map[string]string{"put-edge": "hangs", "list-edges": "answers"})
	told := r.run(t, margin+2*time.Second, r.request(cfn.RequestCreate, []string{prefix + "put-edge", prefix + "list-edges"}, nil))
	if told.Status != cfn.StatusFailed || !strings.Contains(told.Reason, "put-edge, version 7: ") || strings.Contains(told.Reason, "list-edges") {
		t.Errorf("CloudFormation is told %+v", told)
	}
}

// TestRelease_PropertiesThatCannotBeRead_AreRefused: CloudFormation must not wait for an answer until its own timeout.
func TestRelease_PropertiesThatCannotBeRead_AreRefused(t *testing.T) {
	r := newRegion(t, nil)
	event := r.request(cfn.RequestCreate, nil, nil)
	event.ResourceProperties["Publish"] = "all"
	if told := r.run(t, 20*time.Second, event); told.Status != cfn.StatusFailed || !strings.Contains(told.Reason, "properties") {
		t.Errorf("CloudFormation is told %+v", told)
	}
}
