package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/cfn"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/runtime"
	"wavegate/scripts/local/service"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// TestSmokeTest_OfEveryFunction_PassesAndChangesNothing makes the smoke test call all functions, like a deploy. An
// organization has the resources of the samples.
func TestSmokeTest_OfEveryFunction_PassesAndChangesNothing(t *testing.T) {
	w, owner := published(t, harness.WithBell())
	owner.Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich"}`).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/box-0001", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","factoryId":"munich-1"}`).Is(t, http.StatusCreated)
	before := w.State(t)

	told := smokeTest(t, w, 5*time.Minute, table.Functions())
	if told.Status != cfn.StatusSuccess || len(told.Data) != len(table.Functions()) {
		t.Errorf("CloudFormation is told %s: %s; %d versions of %d functions", told.Status, told.Reason, len(told.Data), len(table.Functions()))
	}
	expect.Equal(t, w.State(t), before, "the stored data is")
}

// TestSmokeTest_AFunctionThatCannotReadItsTable_FailsTheDeploy: the trial of a read-only function shows more than
// that it starts.
func TestSmokeTest_AFunctionThatCannotReadItsTable_FailsTheDeploy(t *testing.T) {
	w := harness.New(t, func(o *service.Options) {
		o.Environment = func(function string) []string {
			if function == "list-edges" {
				return []string{"AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1"}
			}
			return nil
		}
	})
	told := smokeTest(t, w, 20*time.Second, []string{"list-edges", "list-rollouts"})
	if told.Status != cfn.StatusFailed || !strings.Contains(told.Reason, "list-edges, version 99999: answered 50") ||
		strings.Contains(told.Reason, "list-rollouts") {
		t.Errorf("CloudFormation is told %s: %s", told.Status, told.Reason)
	}
}

// TestSmokeTest_DataOfAHigherForm_FailsTheDeploy: an old release would erase what a newer one has stored.
func TestSmokeTest_DataOfAHigherForm_FailsTheDeploy(t *testing.T) {
	w := harness.New(t)
	_, err := w.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(dynamolocal.TableName(dynamo.Progress)), Item: map[string]types.AttributeValue{
		"subject": &types.AttributeValueMemberS{Value: "data"}, "part": &types.AttributeValueMemberS{Value: "form"},
		"form": &types.AttributeValueMemberN{Value: strconv.Itoa(dynamo.Form + 1)}}})
	expect.OK(t, err)
	told := smokeTest(t, w, 20*time.Second, []string{operations.Tick, "list-rollouts"})
	want := fmt.Sprintf("errorString: dynamo: item \"data form\" of progress: attribute form: the stored data has form %d", dynamo.Form+1)
	if told.Status != cfn.StatusFailed || !strings.Contains(told.Reason, "1 of the release's versions failed") ||
		!strings.Contains(told.Reason, want) || strings.Contains(told.Reason, "list-rollouts") {
		t.Errorf("CloudFormation is told %s: %s", told.Status, told.Reason)
	}
}

// smokeTestProgram builds the function as it is deployed. A local run does not start it.
func smokeTestProgram(t *testing.T) string {
	t.Helper()
	root := expect.Value(service.Root())(t)
	out := t.TempDir()
	build := exec.CommandContext(t.Context(), filepath.Join(root, "scripts", "build"), "smoke-test")
	build.Env = append(os.Environ(), "OUT="+out, "OS="+goruntime.GOOS, "ARCH="+goruntime.GOARCH, "TOOLCHAIN=local")
	text, err := build.CombinedOutput()
	expect.Must(t, err == nil, "%v: %s", err, text)
	return filepath.Join(out, "smoke-test", "bootstrap")
}

// smokeTest runs the function smoke-test for a release of functions, with their processes for their new versions. It
// returns the answer to CloudFormation.
func smokeTest(t *testing.T, w *harness.World, timeout time.Duration, functions []string) cfn.Response {
	t.Helper()
	const prefix = "wavegate-dev-"
	var mu sync.Mutex
	var told cfn.Response
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2015-03-31/functions/{name}/versions", func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(rw).Encode(map[string]string{"Version": "99999"})
	})
	mux.HandleFunc("POST /2015-03-31/functions/{name}/invocations", func(rw http.ResponseWriter, q *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(q.PathValue("name"), prefix), ":")
		event, err := io.ReadAll(q.Body)
		answer, failed := w.Function(name).Invoke(q.Context(), event)
		if err = errors.Join(err, failed); err != nil {
			rw.Header().Set("X-Amz-Function-Error", "Unhandled")
			answer, _ = json.Marshal(map[string]string{"errorMessage": err.Error()})
		}
		_, _ = rw.Write(answer)
	})
	mux.HandleFunc("PUT /told", func(_ http.ResponseWriter, q *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		b, err := io.ReadAll(q.Body)
		// CloudFormation accepts an answer of 4,096 bytes. The stack may grow by half as many functions again.
		if err != nil || json.Unmarshal(b, &told) != nil || len(b) > 2700 {
			t.Errorf("CloudFormation is told %d bytes: %s, %v", len(b), b, err)
		}
	})
	cloud := httptest.NewServer(mux)
	defer cloud.Close()

	f := runtime.New(runtime.Spec{Name: prefix + "smoke-test", Binary: smokeTestProgram(t),
		Timeout: timeout, MemoryMB: 256, Env: []string{
			"AWS_ENDPOINT_URL=" + cloud.URL, "AWS_REGION=" + runtime.Region, "AWS_ACCESS_KEY_ID=AKIATEST", "AWS_SECRET_ACCESS_KEY=test",
		}})
	defer f.Stop()
	var publish []string
	for _, name := range functions {
		publish = append(publish, prefix+name)
	}
	event := expect.Value(json.Marshal(cfn.Event{
		RequestType: cfn.RequestCreate, ResponseURL: cloud.URL + "/told", LogicalResourceID: "smoketest1",
		ResourceProperties: map[string]any{"Prefix": prefix, "Publish": publish},
	}))(t)
	expect.Value(f.Invoke(t.Context(), event))(t)
	mu.Lock()
	defer mu.Unlock()
	return told
}
