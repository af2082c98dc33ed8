package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A container is one process of the service. Its clock differs from the clocks of others.
type container struct {
	channels     *release.Store
	publications *publication.Store
	rollouts     *rollout.Store
	factories    *factory.Store
	machines     *machine.Store
	methods      *method.Store
	edges        *edge.Store
	registry     *edge.Registry
}

// A change is what the trail must show about an operation.
type change struct {
	stream, name string
	resource     audit.Resource
	actor        string
	before       any
	after        any
}

// A world has its own channel, rollouts on that channel, a factory, and the containers that
// serve them.
type world struct {
	now        time.Time
	containers []container
	log        *audit.Log
	edgeType   string
	factory    string
	rollout    string
	last       map[string]any // the present state, by resource
	revisions  map[string]int64
	changes    []change
	versions   int // that were published
	names      int // that were given
}

const organization = "acme"

// boxes is the name for the streams of boxes, which are read together.
const boxes = "boxes"

var users = []string{"olga", "eric", "mia"}

// worlds counts the worlds that were made.
var worlds atomic.Int64

// newWorld starts at a day of its own in a century that no other test uses. So a time filter
// finds its part of the platform's stream. Skews are the differences of the containers' clocks.
func newWorld(client *dynamodb.Client, skews ...time.Duration) *world {
	name := "t" + uuid.NewString()[:13]
	w := &world{
		now:      time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(worlds.Add(1))),
		edgeType: name, factory: name, last: map[string]any{}, revisions: map[string]int64{},
	}
	var ticking sync.Mutex // a store may read several rows in parallel, each with the clock
	for _, skew := range skews {
		db := dynamo.Open(client, func() time.Time {
			ticking.Lock()
			defer ticking.Unlock()
			w.now = w.now.Add(7 * time.Millisecond)
			return w.now.Add(skew)
		})
		w.containers = append(w.containers, container{
			release.NewStore(db), publication.NewStore(db), rollout.NewStore(db), factory.NewStore(db), machine.NewStore(db), method.NewStore(db), edge.NewStore(db), edge.NewRegistry(db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}})})
	}
	w.log = audit.NewLog(dynamo.Open(client, time.Now))
	return w
}

func origin(user string) audit.Origin {
	return audit.Origin{
		Actor:    audit.Actor{Issuer: "https://people.example", UserID: user, Roles: []auth.Role{auth.PlatformOwner, auth.OrganizationAdmin}},
		SourceIP: "192.0.2.7", RequestID: "req-1",
	}
}

func resourceKey(kind, id string) string { return kind + " " + id }

func (w *world) saw(stream, name, kind, id, user string, after any) {
	k := resourceKey(kind, id)
	w.revisions[k]++
	w.changes = append(w.changes, change{
		stream: stream, name: name, actor: user, before: w.last[k], after: after,
		resource: audit.Resource{Type: kind, ID: id, Revision: w.revisions[k]},
	})
	w.last[k] = after
}

// A step is one operation that a container does for a user.
type step func(t *rapid.T, c container, user string) error

func (w *world) steps() map[string]step {
	return map[string]step{
		"publish": w.publish, "start": w.start, "move": w.move,
		"factory": w.renameFactory, "machine": w.putMachine, "method": w.createMethod, "edge": w.putEdge,
	}
}

func (w *world) putEdge(t *rapid.T, c container, user string) error {
	w.names++
	id, name := w.factory+rapid.SampledFrom([]string{"-1", "-2", "-3", "-4"}).Draw(t, "box"), "EdgeReassigned"
	created, err := c.registry.Put(admission.Unlimited(context.Background()), origin(user), id,
		edge.Assignment{EdgeType: w.edgeType, Channel: fmt.Sprintf("c%d", w.names), OrganizationID: organization}, input.Preconditions{})
	if err != nil {
		return err
	}
	if created {
		name = "EdgeRegistered"
	}
	now, err := c.edges.Get(context.Background(), id)
	if err == nil {
		w.saw(boxes, name, edge.ResourceType, id, user, now)
	}
	return err
}

func (w *world) publish(_ *rapid.T, c container, user string) error {
	w.versions++
	p := release.Publication{EdgeType: w.edgeType, Channel: "stable", CurrentVersion: fmt.Sprintf("1.0.%d", w.versions),
		ArtifactURL: "https://artifacts.example/a", SHA256: fmt.Sprintf("%064x", w.versions)}
	if _, err := c.publications.Publish(admission.Unlimited(context.Background()), origin(user), p, input.Preconditions{}); err != nil {
		return err
	}
	if err := w.sawChannel(c, "ReleasePublished", user); err != nil {
		return err
	}
	if r, ok := w.last[resourceKey(rollout.ResourceType, w.rollout)].(rollout.Rollout); ok && r.Status == rollout.Active {
		return w.sawRollout(c, "RolloutHalted", user)
	}
	return nil
}

func (w *world) sawChannel(c container, name, user string) error {
	now, err := c.channels.Get(context.Background(), w.edgeType, "stable")
	if err == nil {
		w.saw(audit.Platform, name, release.ResourceType, now.ID(), user, now.Channel)
	}
	return err
}

// start begins a rollout when no other is active.
func (w *world) start(t *rapid.T, c container, user string) error {
	if r, ok := w.last[resourceKey(rollout.ResourceType, w.rollout)].(rollout.Rollout); ok && r.Status == rollout.Active {
		return w.move(t, c, user)
	}
	if w.versions == 0 {
		return w.publish(t, c, user)
	}
	plan := rollout.Plan{EdgeType: w.edgeType, Channel: "stable", TargetVersion: "1.0.1"}
	id, err := c.rollouts.Start(admission.Unlimited(context.Background()), origin(user), plan, idempotency.Claim{})
	if err != nil {
		return err
	}
	w.rollout = id
	return w.sawRollout(c, "RolloutStarted", user)
}

func (w *world) sawRollout(c container, name, user string) error {
	now, err := c.rollouts.Get(context.Background(), w.rollout)
	if err == nil {
		w.saw(audit.Platform, name, rollout.ResourceType, w.rollout, user, now)
	}
	return err
}

func (w *world) move(t *rapid.T, c container, user string) error {
	was, ok := w.last[resourceKey(rollout.ResourceType, w.rollout)].(rollout.Rollout)
	if !ok {
		return w.start(t, c, user)
	}
	m, name := rollout.Move{Status: rollout.Halted}, "RolloutHalted"
	switch rapid.IntRange(0, 9).Draw(t, "move") {
	case 0, 1:
		m, name = rollout.Move{Status: rollout.Completed}, "RolloutCompleted"
	case 2:
	default:
		next := map[int]int{1: 10, 10: 50, 50: 100}[was.StagedPercent]
		if was.Status == rollout.Active && next > 0 {
			m, name = rollout.Move{StagedPercent: &next}, "RolloutPromoted"
		}
	}
	if m.Status == was.Status {
		return nil // setting it again changes nothing and writes no event
	}
	if _, err := c.rollouts.Move(admission.Unlimited(context.Background()), origin(user), w.rollout, m, input.Preconditions{}); err != nil {
		return err
	}
	if was.Status == rollout.Active && m.Status == rollout.Completed && was.StagedPercent == 100 {
		if err := w.sawChannel(c, "ReleaseAdopted", user); err != nil {
			return err
		}
	}
	return w.sawRollout(c, name, user)
}

func (w *world) caller(user string) auth.Principal {
	return auth.Principal{Issuer: "https://people.example", UserID: user, OrganizationID: organization}
}

func (w *world) renameFactory(_ *rapid.T, c container, user string) error {
	w.names++
	name := "FactoryRenamed"
	created, err := c.factories.Put(admission.Unlimited(context.Background()), origin(user), w.factory, factory.Registration{OrganizationID: organization, Name: fmt.Sprintf("Munich %d", w.names)}, input.Preconditions{})
	if err != nil {
		return err
	}
	if created {
		name = "FactoryRegistered"
	}
	now, err := c.factories.Readable(context.Background(), w.caller(user), w.factory)
	if err == nil {
		w.saw(audit.Platform, name, factory.ResourceType, w.factory, user, now)
	}
	return err
}

func (w *world) putMachine(t *rapid.T, c container, user string) error {
	if w.last[resourceKey(factory.ResourceType, w.factory)] == nil {
		return w.renameFactory(t, c, user)
	}
	w.names++
	code, name := rapid.SampledFrom([]string{"press-1", "press-2", "mill"}).Draw(t, "code"), "MachineRenamed"
	created, err := c.machines.Put(admission.Unlimited(context.Background()), w.caller(user), origin(user), w.factory, code, machine.Registration{Name: fmt.Sprintf("Press %d", w.names)}, input.Preconditions{})
	if err != nil {
		return err
	}
	if created {
		name = "MachineRegistered"
	}
	now, err := c.machines.Get(context.Background(), w.caller(user), w.factory, code)
	if err == nil {
		w.saw(audit.Factory(w.factory), name, machine.ResourceType, code, user, now)
	}
	return err
}

func (w *world) createMethod(t *rapid.T, c container, user string) error {
	if w.last[resourceKey(factory.ResourceType, w.factory)] == nil {
		return w.renameFactory(t, c, user)
	}
	draft := method.Creation{ProductID: uuid.NewString(), Name: "Milling"}
	id, err := c.methods.Create(admission.Unlimited(context.Background()), w.caller(user), origin(user), w.factory, draft, idempotency.Claim{})
	if err != nil {
		return err
	}
	now, err := c.methods.Get(context.Background(), w.caller(user), w.factory, id)
	if err == nil {
		w.saw(audit.Factory(w.factory), "ProductionMethodCreated", method.ResourceType, id, user, now)
	}
	return err
}

func (w *world) run(t *rapid.T, n int) {
	steps := w.steps()
	names := []string{"publish", "start", "move", "move", "factory", "machine", "machine", "method", "edge", "edge"}
	for range n {
		c := w.containers[rapid.IntRange(0, len(w.containers)-1).Draw(t, "container")]
		name := rapid.SampledFrom(names).Draw(t, "step")
		if err := steps[name](t, c, rapid.SampledFrom(users).Draw(t, "user")); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// window limits the platform's stream to this world's part of it.
func (w *world) window() audit.Filter {
	return audit.Filter{From: w.now.Add(-time.Hour), To: w.now.Add(time.Hour)}
}

// asJSON returns a value as a caller sees it.
func asJSON(t *rapid.T, v any) any {
	b := expect.Value(timestamp.JSON(v))(t)
	var out any
	expect.OK(t, json.Unmarshal(b, &out))
	if _, ok := v.(rollout.Rollout); ok {
		delete(out.(map[string]any), "guard") // a read shows it; it follows from the policy, which the event shows
	}
	return out
}

// same reports whether an event shows exactly this change.
func (c change) same(t *rapid.T, e audit.Event) bool {
	return e.EventName == c.name && e.Resource == c.resource && e.Actor.UserID == c.actor &&
		e.SourceIP == "192.0.2.7" && e.RequestID == "req-1" &&
		reflect.DeepEqual(asJSON(t, e.Before), asJSON(t, c.before)) && reflect.DeepEqual(asJSON(t, e.After), asJSON(t, c.after))
}
