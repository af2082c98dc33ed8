package service

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

var functions string

func TestMain(m *testing.M) {
	var err error
	if functions, err = Build(context.Background(), os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func start(t *testing.T, change ...func(*Options)) *Service {
	t.Helper()
	issuers := expect.Value(devissuer.Load(t.TempDir()))(t)
	o := Options{Functions: functions, Issuers: issuers}
	for _, c := range change {
		c(&o)
	}
	s := expect.Value(Start(t.Context(), o))(t)
	t.Cleanup(s.Stop)
	return s
}

// TestStart_DataOfAHigherForm_IsRefused: local data can be kept, and used by an older version of the sources.
func TestStart_DataOfAHigherForm_IsRefused(t *testing.T) {
	store, err := dynamolocal.Embedded()
	expect.OK(t, err)
	defer store.Close()
	db := store.Client()
	expect.OK(t, dynamolocal.CreateTables(t.Context(), db))
	item := expect.Value(dynamo.Encode(map[string]any{"subject": "data", "part": "form", "form": 99}))(t)
	_, err = db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(dynamolocal.TableName(dynamo.Progress)), Item: item})
	expect.OK(t, err)
	s, err := Start(t.Context(), Options{Functions: functions, Store: store})
	expect.Error(t, err, "the stored data has form 99", "it says")
	if s != nil {
		s.Stop()
		t.Error("it runs")
	}
}

// do sends a request as a platform owner and returns the status and body.
func do(t *testing.T, s *Service, method, path, body string) (int, string) {
	t.Helper()
	bearer := expect.Value(s.Bearer("ann", "acme", auth.PlatformOwner))(t)
	req := expect.Value(http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body)))(t)
	req.Header.Set("Authorization", bearer)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res := expect.Value(http.DefaultClient.Do(req))(t)
	defer res.Body.Close()
	answer := expect.Value(io.ReadAll(res.Body))(t)
	return res.StatusCode, string(answer)
}

func TestStop_LeavesNoProcess(t *testing.T) {
	s := start(t)
	do(t, s, "GET", "/api/factories/munich-1", "")
	pids := s.PIDs()
	expect.Must(t, len(pids) == 2, "%d processes, want the authorizer's and the function's", len(pids))
	s.Stop()
	left := slices.DeleteFunc(pids, func(pid int) bool { return syscall.Kill(pid, 0) != nil })
	expect.That(t, len(left) == 0, "processes %v are left", left)
	_, err := http.Get(s.URL + "/api/factories/munich-1")
	expect.That(t, err != nil, "something still answers")
}

func TestStart_FunctionIsNotBuilt_LeavesNothingRunning(t *testing.T) {
	_, err := Start(t.Context(), Options{Functions: t.TempDir()})
	expect.Error(t, err, "is not built", "it says")
}

func TestSeed_Twice_ChangesNothing(t *testing.T) {
	s := start(t)
	channel := "/api/ota/release-channels/gateway-x/stable"
	expect.OK(t, s.Seed(t.Context()))
	if status, body := do(t, s, "GET", channel, ""); status != 200 || !strings.Contains(body, `"currentVersion":"1.0.0"`) {
		t.Errorf("%d %s", status, body)
	}
	newer := strings.NewReplacer("1.0.0", "2.0.0", "6f1b", "0000").Replace(demo[1].body)
	if status, body := do(t, s, "PUT", channel, newer); status != 204 {
		t.Fatalf("%d %s", status, body)
	}
	expect.OK(t, s.Seed(t.Context()))
	if _, body := do(t, s, "GET", channel, ""); !strings.Contains(body, `"currentVersion":"2.0.0"`) {
		t.Errorf("seeding again changed the channel: %s", body)
	}
	status, body := do(t, s, "GET", "/api/factories/munich-1", "")
	expect.That(t, status == 200 && strings.Contains(body, `"acme"`), "%d %s", status, body)
}

func TestEnvironment_OfAFunction_HasOnlyItsRow(t *testing.T) {
	s := start(t, func(o *Options) {
		o.Environment = func(function string) []string { return []string{"SETTING=of " + function} }
	})
	env := s.environment(table.Get("get-factory"))
	for _, want := range []string{"TABLE_FACTORIES=wavegate-factories", "AWS_ACCESS_KEY_ID=LOCALGETFACTORY",
		"AWS_ENDPOINT_URL_DYNAMODB=" + s.Front.URL()} {
		expect.That(t, slices.Contains(env, want), "%s is not among %q", want, env)
	}
	expect.That(t, !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "TABLE_AUDIT=") }),
		"it knows a table without a grant: %q", env)
}

// A setting with which a function cannot start gives the gateway's 502 and a line in the
// function's log.
func TestStart_FunctionCannotStart_Is502(t *testing.T) {
	s := start(t, func(o *Options) {
		o.Environment = func(function string) []string {
			if function == "get-factory" {
				return []string{"AWS_LAMBDA_RUNTIME_API=127.0.0.1:1"}
			}
			return nil
		}
	})
	status, body := do(t, s, "GET", "/api/factories/munich-1", "")
	expect.That(t, status == 502 && strings.Contains(body, `"BAD_GATEWAY"`), "%d %s", status, body)
	expect.That(t, len(s.Logs("get-factory")) != 0, "its log is empty")
	expect.Equal(t, s.Function("get-factory").Counts().Live, 0, "processes that live:")
}
