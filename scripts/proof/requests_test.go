package proof

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"wavegate/scripts/proof/ledger"
	"wavegate/shared/operations"
)

// A drawn request is a call that is about to be made.
type drawn struct {
	op        operations.Operation
	parameter map[string]string
	query     string
	body      string
	header    []string // names and values by turns
}

func (r drawn) path() string {
	path := placeholder.ReplaceAllStringFunc(r.op.Path, func(p string) string {
		return r.parameter[strings.Trim(p, "{}+")]
	})
	if r.query != "" {
		path += "?" + r.query
	}
	return path
}

var placeholder = regexp.MustCompile(`\{\w+\+?\}`)

// method is that of the operation, or one where it takes any.
func (r drawn) method() string {
	if r.op.Method == operations.Any {
		return http.MethodPost
	}
	return r.op.Method
}

func (r drawn) key() string {
	for i := 0; i < len(r.header); i += 2 {
		if r.header[i] == "Idempotency-Key" {
			return r.header[i+1]
		}
	}
	return ""
}

// What requests draw from: few names, so that they meet.
var (
	edgeTypes = []string{"gateway-x", "camera-y"}
	channels  = []string{"stable", "canary"}
	versions  = []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0"}
	codes     = []string{"m-1", "m-2", "m-3", "m-4"}
	percents  = []int{10, 10, 50, 100, 1}
)

// A world is what callers have learned of what there is.
type world struct {
	mu       sync.Mutex
	rollouts []string
	methods  []string          // "factory/method"
	tags     map[string]string // path: the entity tag last seen
}

func newWorld() *world { return &world{tags: map[string]string{}} }

func (w *world) learn(r drawn, location, tag string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := location[strings.LastIndex(location, "/")+1:]
	switch {
	case id == "":
	case r.op.ID == "start-rollout":
		w.rollouts = append(w.rollouts, id)
	case r.op.ID == "create-production-method":
		w.methods = append(w.methods, r.parameter["factoryId"]+"/"+id)
	}
	if tag != "" {
		w.tags[r.path()] = tag
	}
}

// A drawer draws requests from a seed and from what the world has.
type drawer struct {
	*rand.Rand
	world *world
}

func one[T any](d *drawer, from []T) T { return from[d.IntN(len(from))] }

// factoryID is as a rule one of the caller's own organization.
func (d *drawer) factoryID(p person) string {
	o := p.OrganizationID
	if d.IntN(12) == 0 || !strings.Contains(strings.Join(organizations, " "), o) || o == "" {
		o = one(d, organizations)
	}
	return fmt.Sprintf("%s-%d", o, d.IntN(2))
}

// ownerOf is the organization whose factory it is, by its name.
func ownerOf(factoryID string) string { return factoryID[:strings.LastIndex(factoryID, "-")] }

// rollout is as a rule the latest that anyone knows.
func (d *drawer) rollout() string {
	d.world.mu.Lock()
	defer d.world.mu.Unlock()
	n := len(d.world.rollouts)
	if n == 0 || d.IntN(30) == 0 {
		return uuid.NewString()
	}
	return d.world.rollouts[max(0, n-1-d.IntN(6))]
}

func (d *drawer) method(factoryID string) string {
	d.world.mu.Lock()
	defer d.world.mu.Unlock()
	if n := len(d.world.methods); n > 0 {
		// Of whatever factory: nobody must find it in another.
		f, m, _ := strings.Cut(d.world.methods[d.IntN(n)], "/")
		if f == factoryID || d.IntN(4) == 0 {
			return m
		}
	}
	return uuid.NewString()
}

// parameters fills the path of any operation, those that are yet to come among them.
func (d *drawer) parameters(op operations.Operation, p person) map[string]string {
	values := map[string]string{}
	for _, name := range op.Parameters() {
		switch name {
		case "edgeType":
			values[name] = one(d, edgeTypes)
		case "channel":
			values[name] = one(d, channels)
		case "factoryId":
			values[name] = d.factoryID(p)
		case "methodId":
			values[name] = d.method(values["factoryId"])
		case "code":
			values[name] = one(d, codes)
		case "edgeId":
			values[name] = fmt.Sprintf("edge-%d", d.IntN(4))
		case "kind":
			values[name] = one(d, []string{"users", "organizations"})
		case "id":
			values[name] = d.rollout()
			switch values["kind"] {
			case "users":
				values[name] = "mara-" + one(d, organizations)
			case "organizations":
				values[name] = one(d, organizations)
			}
		default:
			values[name] = "x"
		}
	}
	return values
}

// bodies makes the body of each operation that has one, given its parameters and the caller.
var bodies = map[string]func(*drawer, map[string]string, person) string{
	"publish-release": func(d *drawer, at map[string]string, _ person) string {
		version := one(d, versions)
		digest := strings.Repeat("ab"[:1+d.IntN(12)/11], 64)[:64] // one in twelve has other bytes
		return fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://artifacts.example/%s/%s","sha256":%q}`,
			version, at["edgeType"], version, digest)
	},
	"start-rollout": func(d *drawer, _ map[string]string, _ person) string {
		return fmt.Sprintf(`{"edgeType":%q,"channel":%q,"targetVersion":%q}`, one(d, edgeTypes), one(d, channels), one(d, versions))
	},
	"update-rollout": func(d *drawer, _ map[string]string, _ person) string {
		switch d.IntN(10) {
		case 0:
			return `{"status":"halted"}`
		case 1:
			return `{"status":"completed"}`
		case 2:
			return fmt.Sprintf(`{"staged_percent":%d,"status":%q}`, one(d, percents), one(d, []string{"halted", "completed"}))
		}
		return fmt.Sprintf(`{"staged_percent":%d}`, one(d, percents))
	},
	"put-factory": func(d *drawer, at map[string]string, _ person) string {
		owner := ownerOf(at["factoryId"])
		name := fmt.Sprintf("Works %d, %s", d.IntN(3), secret(owner))
		if d.IntN(20) == 0 {
			owner = one(d, organizations) // a factory never changes its organization
		}
		return fmt.Sprintf(`{"organizationId":%q,"name":%q}`, owner, name)
	},
	"create-production-method": func(d *drawer, _ map[string]string, p person) string {
		return fmt.Sprintf(`{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e1%d","name":"Milling %d, %s"}`, d.IntN(3), d.IntN(100), secret(p.OrganizationID))
	},
	"put-machine": func(d *drawer, _ map[string]string, p person) string {
		return fmt.Sprintf(`{"name":"Mill %d, %s"}`, d.IntN(5), secret(p.OrganizationID))
	},
	"put-edge": func(d *drawer, at map[string]string, _ person) string {
		return fmt.Sprintf(`{"edgeType":%q,"channel":%q,"organizationId":%q}`, one(d, edgeTypes), one(d, channels),
			one(d, organizations))
	},
	"put-rate-limit": func(d *drawer, at map[string]string, _ person) string {
		if at["kind"] == "users" {
			return fmt.Sprintf(`{"limit":%d,"reason":"too many calls"}`, 5+d.IntN(40))
		}
		return fmt.Sprintf(`{"limit":%d,"copilotLimit":%d}`, 6000+d.IntN(3), 300+d.IntN(3))
	},
}

// queries makes the query of lists that need one, and of some polls.
var queries = map[string]func(*drawer) string{
	"list-edges": func(d *drawer) string {
		if d.IntN(2) == 0 {
			return "organizationId=" + one(d, organizations)
		}
		return "edgeType=" + one(d, edgeTypes) + "&channel=" + one(d, channels)
	},
	"list-factories": func(d *drawer) string { return "organizationId=" + one(d, organizations) },
	"list-rollouts":  func(d *drawer) string { return "status=" + one(d, []string{"active", "halted", "completed"}) },
	"get-manifest":   func(d *drawer) string { return "installed=" + one(d, versions) },
}

// TestRequests_EveryOperationThatWrites_IsDrawnAndAudited: an operation that is added to the table and
// changes something has to take part in the run.
func TestRequests_EveryOperationThatWrites_IsDrawnAndAudited(t *testing.T) {
	for _, op := range operations.Table {
		if op.Method == http.MethodGet || op.Method == operations.Any {
			continue
		}
		if bodies[op.ID] == nil && op.Method != http.MethodDelete {
			t.Errorf("no body is drawn for %s", op.ID)
		}
		if !ledger.Audited(op.ID) {
			t.Errorf("the books do not explain the answers of %s", op.ID)
		}
	}
}

// weight says how often an operation is drawn. Changes matter more than reads here.
func weight(op operations.Operation) int {
	switch op.ID {
	case "update-rollout":
		return 12
	case "publish-release", "start-rollout", "create-production-method", "put-machine":
		return 6
	case "put-factory", "put-edge", "get-manifest":
		return 4
	case "copilot":
		return 1
	}
	return 2
}

// operation draws from the whole table.
func (d *drawer) operation() operations.Operation {
	total := 0
	for _, op := range operations.Table {
		total += weight(op)
	}
	n := d.IntN(total)
	for _, op := range operations.Table {
		if n -= weight(op); n < 0 {
			return op
		}
	}
	panic("no operation was drawn")
}

// person draws who calls an operation: as a rule one who may, and of an organization that can own
// what it is about.
func (d *drawer) person(op operations.Operation, all []person) person {
	for range 20 {
		if p := one(d, all); p.Has(op.Roles...) {
			return p
		}
		if d.IntN(60) == 0 {
			break
		}
	}
	return one(d, all)
}

// request draws a request of a person.
func (d *drawer) request(op operations.Operation, p person) drawn {
	r := drawn{op: op, parameter: d.parameters(op, p)}
	if make := bodies[op.ID]; make != nil {
		r.body = make(d, r.parameter, p)
	}
	if query := queries[op.ID]; query != nil && d.IntN(5) > 0 {
		r.query = query(d)
	} else if strings.HasPrefix(op.ID, "list-") && d.IntN(2) == 0 {
		r.query = fmt.Sprintf("limit=%d", 1+d.IntN(100))
	}
	switch {
	case op.Method == http.MethodPost && d.IntN(3) > 0:
		r.header = []string{"Idempotency-Key", fmt.Sprintf("key-%d", d.IntN(1<<30))}
	case op.Method == http.MethodGet && d.IntN(4) == 0:
		r.header = d.condition("If-None-Match", r)
	case op.Method != http.MethodGet && op.Method != http.MethodPost && d.IntN(4) == 0:
		r.header = d.condition("If-Match", r)
	}
	if r.body != "" && d.IntN(40) == 0 {
		r.body = d.broken(r.body)
	}
	return r
}

func (d *drawer) condition(name string, r drawn) []string {
	d.world.mu.Lock()
	defer d.world.mu.Unlock()
	if tag := d.world.tags[r.path()]; tag != "" && d.IntN(4) > 0 {
		return []string{name, tag}
	}
	return []string{name, fmt.Sprintf("%q", fmt.Sprint(1+d.IntN(4)))}
}

// broken makes a body one that must be refused.
func (d *drawer) broken(body string) string {
	return one(d, []string{body[:len(body)/2], body + "x", strings.Replace(body, "{", `{"unknown":1,`, 1), "[" + body + "]", "null", body + strings.Repeat(" ", 20<<10)})
}
