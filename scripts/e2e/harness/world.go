// Package harness gives the end-to-end tests a running service and callers of it. They test the real function
// binaries behind the local gateway. With another Target, the callers call any other place that serves the API, such
// as SAM.
package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/scripts/local/storefront"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/golden"
)

// A Target is a place that serves the API, and the means to call it as anyone.
type Target struct {
	URL string
	// Token makes an access token that the target accepts.
	Token func(devissuer.Claims) (string, error)
}

// A World is a separate service with its own store.
type World struct {
	Target
	*service.Service
}

var (
	buildOnce sync.Once
	functions string
	errBuild  error

	rightsMu sync.Mutex
	rights   = map[storefront.Right]bool{} // true: used by some world of this run
)

// Functions builds the functions, once per run, and returns their directory.
func Functions() (string, error) {
	buildOnce.Do(func() {
		if errBuild = service.ReadSources(); errBuild == nil {
			functions, errBuild = service.Build(context.Background(), os.Stderr)
		}
	})
	return functions, errBuild
}

// New starts a world that ends with the test.
func New(t testing.TB, change ...func(*service.Options)) *World {
	t.Helper()
	dir := expect.Value(Functions())(t)
	issuers := expect.Value(devissuer.Load(t.TempDir()))(t)
	o := service.Options{Functions: dir, Issuers: issuers}
	for _, c := range change {
		c(&o)
	}
	s := expect.Value(service.Start(context.Background(), o))(t)
	t.Cleanup(func() {
		remember(s.Front)
		golden.Check(t, s.DB)
		if t.Failed() {
			tell(t, s)
		}
		s.Stop()
		refused := s.Front.Refused()
		expect.That(t, len(refused) == 0, "functions asked for what their rows do not grant: %q", refused)
	})
	return &World{Target: Target{URL: s.URL, Token: s.Token}, Service: s}
}

// tell shows the faults in the functions' logs, for a failed test.
func tell(t testing.TB, s *service.Service) {
	for _, f := range table.Functions() {
		for _, line := range s.Logs(f) {
			if strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, "panic") {
				t.Logf("%s: %s", f, line)
			}
		}
	}
}

// WithProcesses allows a function as many processes as a race needs.
func WithProcesses(n int) func(*service.Options) {
	return func(o *service.Options) { o.Processes = n }
}

// WithBell gives the service a bell.
func WithBell() func(*service.Options) {
	return func(o *service.Options) { o.Bell = "127.0.0.1:0" }
}

// WithDoor gives the service a door.
func WithDoor() func(*service.Options) {
	return func(o *service.Options) { o.Door = "127.0.0.1:0" }
}

func remember(f *storefront.Front) {
	rightsMu.Lock()
	defer rightsMu.Unlock()
	for _, r := range f.Used() {
		rights[r] = true
	}
	for _, r := range f.Unused() {
		if _, known := rights[r]; !known {
			rights[r] = false
		}
	}
}

// Unused lists the permissions that no test of the run has used: a function should not have them.
func Unused() []string {
	rightsMu.Lock()
	defer rightsMu.Unlock()
	var list []string
	for r, used := range rights {
		if !used {
			list = append(list, fmt.Sprintf("%+v", r))
		}
	}
	slices.Sort(list)
	return list
}

var names atomic.Int64

// Name makes a name that no other test of the run uses.
func Name(stem string) string { return stem + "-" + strconv.FormatInt(names.Add(1), 10) }

// Items reads everything in a table, independently of the functions and their permissions.
func (w *World) Items(t testing.TB, table dynamo.TableID) []map[string]any {
	t.Helper()
	var list []map[string]any
	pages := dynamodb.NewScanPaginator(w.DB, &dynamodb.ScanInput{
		TableName: aws.String(dynamolocal.TableName(table)), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		expect.Must(t, err == nil, "scan %s: %v", table, err)
		for _, item := range page.Items {
			var m map[string]any
			expect.OK(t, attributevalue.UnmarshalMap(item, &m))
			list = append(list, m)
		}
	}
	return list
}

// State returns everything that is stored, except for the limiter's counters, as one text: two states are equal if
// and only if nothing was written in between.
func (w *World) State(t testing.TB) string {
	t.Helper()
	var lines []string
	for _, table := range dynamo.Tables {
		if table.ID == dynamo.RateCounters {
			continue
		}
		for _, item := range w.Items(t, table.ID) {
			b := expect.Value(json.Marshal(item))(t)
			lines = append(lines, string(table.ID)+" "+string(b))
		}
	}
	slices.Sort(lines)
	return fmt.Sprintf("%d items\n%q", len(lines), lines)
}

// Events lists the audit events of a resource, oldest first.
func (w *World) Events(t testing.TB, resourceType, id string) []map[string]any {
	t.Helper()
	var list []map[string]any
	for _, e := range w.Items(t, dynamo.Audit) {
		if r, ok := e["resource"].(map[string]any); ok && r["type"] == resourceType && r["id"] == id {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b map[string]any) int {
		x, y := a["position"].(string), b["position"].(string)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return list
}

// WithPrefix puts the API under a path, like the default URL of a deployment.
func WithPrefix(prefix string) func(*service.Options) {
	return func(o *service.Options) { o.Prefix = prefix }
}
