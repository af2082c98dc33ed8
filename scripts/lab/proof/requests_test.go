package proof

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/canonical"
)

// keyOf is the call's Idempotency-Key, or empty.
func keyOf(r samples.Call) string {
	if r.Header[0] == "Idempotency-Key" {
		return r.Header[1]
	}
	return ""
}

// Requests draw from these few names, so that they collide.
var (
	edgeTypes = []string{"gateway-x", "camera-y"}
	channels  = []string{"stable", "canary"}
	versions  = []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0"}
	codes     = []string{"m-1", "m-2", "m-3", "m-4"}
	percents  = []string{"10", "10", "50", "100", "1"}
	ends      = []string{"halted", "completed"}
	numbers   = []string{"1", "1", "1", "1", "1", "2", "2", "3"}
	moves     = []string{"in_review", "in_review", "released", "released", "trial", "withdrawn"}
)

// keptVersion is only published with the bytes that the service keeps.
const keptVersion = "2.0.0"

// A world is the callers' knowledge of existing things.
type world struct {
	mu   sync.Mutex
	made map[string][]thing // by their names in samples, the latest last
	tags map[string]string  // the last entity tag of each path
	told map[string]string  // box: the DDI action that it was last told, or asked to give up
	news []enrolled
}

// An enrolled is an enrolment with its code.
type enrolled struct{ id, code, organization string }

// A thing was made by a POST, in a factory or outside of one.
type thing struct{ id, factory string }

// saved are versions of methods, by method and number.
const saved = "saved"

func newWorld() *world {
	return &world{made: map[string][]thing{}, tags: map[string]string{}, told: map[string]string{}}
}

var action = regexp.MustCompile(`(?:deploymentBase|cancelAction)/(\d+)`)

// elsewhere is where a publication says that its bytes are.
var elsewhere = regexp.MustCompile(`"artifactUrl":"[^"]*",`)

func (w *world) learn(r samples.Call, location, tag string, answer []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if number := action.FindSubmatch(answer); r.Operation == "get-ddi-base" && number != nil {
		w.told[r.Parameters["controllerId"]] = string(number[1])
	}
	if makes := samples.Of(r.Operation).Makes; makes != "" && location != "" {
		id := location[strings.LastIndex(location, "/")+1:]
		w.made[makes] = append(w.made[makes], thing{id, r.Parameters["factoryId"]})
	}
	if r.Operation == "put-method-content" {
		if text, err := canonical.JSON([]byte(r.Body)); err == nil {
			tag = strconv.Quote(canonical.SHA256(text))
		}
		w.made[saved] = append(w.made[saved], thing{r.Parameters["methodId"] + ":" + r.Parameters["number"], r.Parameters["factoryId"]})
	}
	if tag != "" {
		w.tags[r.Path] = tag
	}
	var made struct{ ID, Code, OrganizationID string }
	if r.Operation == "create-edge-enrolment" && json.Unmarshal(answer, &made) == nil && made.Code != "" && json.Unmarshal([]byte(r.Body), &made) == nil {
		w.news = append(w.news, enrolled{made.ID, made.Code, made.OrganizationID})
	}
}

// A drawer draws requests from a seed and a world.
type drawer struct {
	*rand.Rand
	world *world
}

func one[T any](d *drawer, from []T) T { return from[d.IntN(len(from))] }

// factoryID is usually a factory of the caller's own organization.
func (d *drawer) factoryID(p person) string {
	o := p.OrganizationID
	if d.IntN(12) == 0 || !strings.Contains(strings.Join(organizations, " "), o) || o == "" {
		o = one(d, organizations)
	}
	return fmt.Sprintf("%s-%d", o, d.IntN(2))
}

// ownerOf is the organization that owns a factory, from the factory's name.
func ownerOf(factoryID string) string { return factoryID[:strings.LastIndex(factoryID, "-")] }

// id is usually one of the latest known ids. If it comes from another factory, nobody must find it in this one.
func (d *drawer) id(made, factory string, latest int) string {
	d.world.mu.Lock()
	defer d.world.mu.Unlock()
	all := d.world.made[made]
	if near := slices.DeleteFunc(slices.Clone(all), func(x thing) bool { return x.factory != "" && x.factory != factory }); len(near) > 0 {
		all = near
	}
	if n := len(all); n > 0 && d.IntN(30) > 0 {
		x := all[max(0, n-1-d.IntN(latest))]
		if x.factory == "" || x.factory == factory || d.IntN(4) == 0 {
			return x.id
		}
	}
	return uuid.NewString()
}

// values fills in the sample of any operation, including future ones. Values that are not drawn
// here are those of the event files.
func (d *drawer) values(op operations.Operation, p person) samples.Values {
	factory, author, organization := d.factoryID(p), p.OrganizationID, one(d, organizations)
	if strings.Contains(op.Path, "{factoryId}") && d.IntN(20) > 0 || op.ID == "put-edge" && d.IntN(4) > 0 {
		organization = ownerOf(factory) // a factory never changes its organization, and a box must be in a factory of its own
	}
	if p.Has(auth.PlatformOwner) {
		author = ownerOf(factory)
	}
	v := samples.Fixed()
	v["organization"], v["user"] = organization, "mara-"+one(d, organizations)
	v["edgeType"], v["channel"], v["edgeId"] = one(d, edgeTypes), one(d, channels), fmt.Sprintf("edge-%d", d.IntN(4))
	v["neighbour"] = fmt.Sprintf("edge-%d", d.IntN(4)) // one of four batches contains a box twice
	v["version"], v["target"] = one(d, versions), one(d, versions)
	v["sha256"] = strings.Repeat("ab"[:1+d.IntN(12)/11], 64)[:64] // one of twelve has another digest
	v["percent"], v["end"], v["status"] = one(d, percents), one(d, ends), one(d, append(ends, "active"))
	v["factoryId"], v["code"] = factory, one(d, codes)
	v["productId"] = fmt.Sprintf("7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e1%d", d.IntN(3))
	v["name"] = fmt.Sprintf("Works %d, %s", d.IntN(5), secret(author))
	v["limit"] = fmt.Sprint(5 + d.IntN(40))
	for _, s := range samples.All {
		if s.Makes != "" {
			latest := 6
			if strings.Contains(op.Path, "{number}") {
				latest = 2 // so that a version passes through all its statuses
			}
			v[s.Makes] = d.id(s.Makes, factory, latest)
		}
	}
	v["number"], v["step"] = one(d, numbers), fmt.Sprintf("Press %d, %s", d.IntN(3), secret(author))
	if strings.Contains(op.Path, "{number}") && op.ID != "put-method-content" && d.IntN(6) > 0 {
		if methodID, number, known := strings.Cut(d.id(saved, factory, 3), ":"); known {
			v["methodId"], v["number"] = methodID, number
		}
	}
	d.control(v, op, p)
	switch kept := d.IntN(4) == 0; {
	case kept && op.ID == "publish-release":
		v["version"], v["sha256"], v["details"] = keptVersion, samples.Fixed()["sha256"], ""
	case kept && op.ID == "start-rollout":
		v["target"] = keptVersion
	}
	// Boxes that enrol use the ids of others, or wait. There are three boxes for each id.
	v["newcomer"], v["redeemer"], v["tokenSha256"] = fmt.Sprintf("edge-%d", d.IntN(8)), fmt.Sprintf("edge-%d", d.IntN(9)), strings.Repeat(one(d, []string{"c", "d", "e"}), 64)
	if op.ID == "update-method-version" {
		v["status"], v["signer"], v["details"] = one(d, moves), p.UserID, ""
		if v["status"] == "released" {
			v["details"] = `,"contentSha256":{etag},"firstArticle":{"reference":"FAI-7"}`
		}
		if v["status"] == "trial" {
			v["details"] = `,"contentSha256":{etag},"machines":["{code}"]`
		}
		v["etag"] = d.world.tag(strings.NewReplacer("{factoryId}", factory, "{methodId}", v["methodId"], "{number}", v["number"]).
			Replace(table.Get("get-method-content").Path))
	}
	return v
}

// control sets the parameters of DDI clients: mostly the caller's own box, and the action that it was told last.
func (d *drawer) control(v samples.Values, op operations.Operation, p person) {
	v["controller"] = v["edgeId"]
	if p.Has(auth.Edge) && d.IntN(12) > 0 {
		v["controller"] = p.UserID
	}
	v["details"], v["installed"] = samples.Described, v["version"]
	if d.IntN(6) == 0 {
		v["details"] = ""
	}
	v["finished"] = one(d, []string{"success", "failure", "none"})
	if strings.Contains(op.Path, "{actionId}") {
		d.world.mu.Lock()
		v["actionId"] = cmp.Or(d.world.told[v["controller"]], "1")
		d.world.mu.Unlock()
	}
}

func (d *drawer) operation() operations.Operation {
	total := 0
	for _, s := range samples.All {
		total += s.Weight
	}
	n := d.IntN(total)
	for _, s := range samples.All {
		if n -= s.Weight; n < 0 {
			return table.Get(s.Operation)
		}
	}
	panic("no operation was drawn")
}

// person draws the caller of an operation. Usually the caller has the right role, and an
// organization that can own the resource.
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

// newcomer is a box with one of the latest codes, if there is one.
func (d *drawer) newcomer(otherwise person) person {
	d.world.mu.Lock()
	defer d.world.mu.Unlock()
	all := d.world.news
	if len(all) == 0 {
		return otherwise
	}
	e := all[max(0, len(all)-1-d.IntN(3))]
	box := boxtoken.Token{Kind: boxtoken.Enrolment, Subject: e.id}.Principal("", "")
	box.OrganizationID = e.organization // which the answer tells it
	return person{box, &harness.Caller{URL: otherwise.caller.URL, Bearer: "Bearer " + string(boxtoken.Enrolment) + ":" + e.code}}
}

// request returns a sample's call, with random parts that no sample can have: things that calls collide on, entity
// tags from other callers, and bodies that must be refused.
func (d *drawer) request(op operations.Operation, p person) samples.Call {
	sample, way := samples.Of(op.ID), samples.Case{}
	if op.ID == "register-edges" && !p.Has(auth.PlatformOwner) {
		sample.Also = nil // only a platform owner may take boxes over
	}
	if len(sample.Also) > 0 && d.IntN(10) < 3 {
		way = one(d, sample.Also)
	}
	r := sample.Call(d.values(op, p), way)
	if op.ID == "publish-release" && strings.Contains(r.Body, `"`+keptVersion+`"`) {
		r.Body = elsewhere.ReplaceAllString(r.Body, "")
	}
	path, query, _ := strings.Cut(r.Path, "?")
	if query == "" || d.IntN(5) == 0 {
		if r.Path = path; samples.Lists(op.ID) && d.IntN(2) == 0 {
			r.Path += fmt.Sprintf("?limit=%d", 1+d.IntN(100))
		}
	}
	switch {
	case op.Method == http.MethodPost && d.IntN(3) > 0:
		r.Header = [2]string{"Idempotency-Key", fmt.Sprintf("key-%d", d.IntN(1<<30))}
	case op.Method == http.MethodGet && d.IntN(4) == 0:
		r.Header = d.condition("If-None-Match", r)
	case op.Method != http.MethodGet && op.Method != http.MethodPost && d.IntN(4) == 0:
		r.Header = d.condition("If-Match", r)
	}
	if r.Body != "" && d.IntN(40) == 0 {
		r.Body = d.broken(r.Body)
	}
	return r
}

// tag is the last entity tag of a path.
func (w *world) tag(path string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if tag := w.tags[path]; tag != "" {
		return tag
	}
	return `""`
}

func (d *drawer) condition(name string, r samples.Call) [2]string {
	d.world.mu.Lock()
	defer d.world.mu.Unlock()
	if tag := d.world.tags[r.Path]; tag != "" && d.IntN(4) > 0 {
		return [2]string{name, tag}
	}
	return [2]string{name, fmt.Sprintf("%q", fmt.Sprint(1+d.IntN(4)))}
}

// broken turns a body into one that must be refused.
func (d *drawer) broken(body string) string {
	return one(d, []string{body[:len(body)/2], body + "x", strings.Replace(body, "{", `{"unknown":1,`, 1), "[" + body + "]", "null", body + strings.Repeat(" ", 20<<10)})
}
