package decide_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

const issuer = "https://fleet.example"

var owner = auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}

// A tester is a test, or one case of a property.
type tester interface {
	expect.T
	Context() context.Context
}

// A house is boxes of one type in one plant, and all that answers what they are told.
type house struct {
	tester
	now      time.Time
	client   *dynamodb.Client
	db       *dynamo.DB
	name     string // of the type, the plant and the organization
	registry *edge.Registry
	reports  *report.Store
	rollouts *rollout.Store
	seen     func(context.Context, string) (time.Time, error)
}

func newHouse(t tester, client *dynamodb.Client) *house {
	h := &house{tester: t, client: client, now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), name: "h-" + uuid.NewString()[:13]}
	h.db = dynamo.Open(client, h.clock)
	h.registry, h.reports, h.rollouts = edge.NewRegistry(h.db, 1).For(owner), report.NewStore(h.db, 1), rollout.NewStore(h.db)
	h.seen = func(context.Context, string) (time.Time, error) { return h.now, nil }
	return h
}

func (h *house) clock() time.Time { return h.now }

func (h *house) ctx() context.Context { return admission.Unlimited(h.Context()) }

func (h *house) id(box string) string { return h.name + "-" + box }

func (h *house) settings() polling.Settings {
	return polling.Settings{PollInterval: time.Minute, IdlePollInterval: 6 * time.Hour, ChannelCache: time.Second, Shards: 1, Issuers: issuer}
}

// described are the details that DDI clients need.
var described = release.Details{SizeBytes: 10, SHA1: strings.Repeat("1", 40)}

func (h *house) publish(channel, version string, d release.Details, l release.Lineage) {
	h.Helper()
	h.publishes(release.Publication{Channel: channel, CurrentVersion: version, Details: d, Lineage: l})
}

func (h *house) publishes(p release.Publication) {
	h.Helper()
	p.EdgeType, p.ArtifactURL, p.SHA256 = cmp.Or(p.EdgeType, h.name), "https://a.example/"+p.CurrentVersion, strings.Repeat("a", 64)
	_, err := publication.NewStore(h.db).Publish(h.ctx(), audit.Origin{}, p, input.Preconditions{})
	expect.OK(h, err)
}

// loses removes a release, as a restore to a time before it does.
func (h *house) loses(version string) {
	h.Helper()
	_, err := h.client.DeleteItem(h.ctx(), &dynamodb.DeleteItemInput{TableName: aws.String(dynamolocal.TableName(dynamo.Releases)),
		Key: map[string]types.AttributeValue{"edgeType": &types.AttributeValueMemberS{Value: h.name}, "version": &types.AttributeValueMemberS{Value: version}}})
	expect.OK(h, err)
}

// put registers a box in the plant, and changes it.
func (h *house) put(box, channel, group string) {
	h.Helper()
	_, err := h.registry.Put(h.ctx(), audit.Origin{}, h.id(box), edge.Assignment{EdgeType: h.name, Channel: channel, OrganizationID: h.name,
		FactoryID: &h.name, Group: &group}, input.Preconditions{})
	expect.OK(h, err)
}

// pauses makes the plant pause for an hour.
func (h *house) pauses() {
	h.Helper()
	until := h.now.Add(time.Hour)
	expect.OK(h, h.db.Put(h.ctx(), dynamo.Factories, nil, plant.Plant{FactoryID: h.name, Updates: &calendar.Updates{PausedUntil: &until, Reason: "a test"}}, dynamo.Condition{}))
}

// optsOut makes the plant opt out of updates, for an hour.
func (h *house) optsOut(of calendar.Scope) {
	h.Helper()
	out := &calendar.OptOut{Of: of, Reason: "a test", At: h.now, Until: new(h.now.Add(time.Hour))}
	expect.OK(h, h.db.Put(h.ctx(), dynamo.Factories, nil, plant.Plant{FactoryID: h.name, Updates: &calendar.Updates{OptOut: out}}, dynamo.Condition{}))
}

// polls lets a box poll by the manifest, in a container without a cache.
func (h *house) polls(box, installed string) (polling.Reply, error) {
	return polling.NewPolls(h.db, h.settings(), h.seen, h.clock).
		Answer(h.ctx(), polling.Poll{EdgeID: h.id(box), Installed: installed, Caller: "the box", Subject: h.id(box)})
}

func (h *house) poll(box, installed string) {
	h.Helper()
	reply, err := h.polls(box, installed)
	expect.OK(h, err)
	expect.OK(h, reply.Unrecorded)
}

func (h *house) call(box string) ddi.ClientCall {
	return ddi.ClientCall{Tenant: h.name, ControllerID: h.id(box), Caller: auth.Principal{Issuer: issuer, UserID: h.id(box), Roles: []auth.Role{auth.Edge}},
		Counts: func(_ context.Context, box auth.Principal) (string, error) { return box.Counted(), nil }}
}

func (h *house) ddi() *ddi.Boxes { return ddi.NewBoxes(h.db, h.settings(), h.seen, h.clock) }

// asks lets a DDI client poll.
func (h *house) asks(box string) ddi.Base {
	h.Helper()
	base, err := h.ddi().Poll(h.ctx(), h.call(box))
	expect.OK(h, err)
	expect.OK(h, base.Unrecorded)
	return base
}

func (h *house) states(box, running string) {
	h.Helper()
	expect.OK(h, h.ddi().State(h.ctx(), h.call(box), ddi.Statement{Running: running}))
}

// writes lets a DDI client say that its action is on disk.
func (h *house) writes(box string) {
	h.Helper()
	expect.OK(h, h.ddi().Report(h.ctx(), h.call(box), ddi.Feedback{Action: h.asks(box).Deployment, Progress: ddi.Written, At: h.now}))
}

func (h *house) row(box string) report.Row { return expect.Value(h.reports.Get(h.ctx(), h.id(box)))(h) }

// manifest is what a box is told that polls and says what it runs.
func (h *house) manifest(box, installed string) string {
	reply, err := h.polls(box, installed)
	if err != nil {
		return string(problem.From(err).Code)
	}
	m := reply.Manifest
	text := m.Version + " " + string(m.Source)
	if m.Towards != "" {
		text += " towards " + m.Towards
	}
	return text
}

// base is what a box with a DDI client is told.
func (h *house) base(box string) string {
	h.Helper()
	turns := func() int64 { return expect.Value(h.reports.Group(h.ctx(), h.name, "pair"))(h).Revision }
	before := turns()
	base, err := h.ddi().Poll(h.ctx(), h.call(box))
	if err != nil {
		return string(problem.From(err).Code)
	}
	text := "told " + cmp.Or(h.row(box).Told, "nothing")
	if base.Deployment != 0 {
		d := expect.Value(h.ddi().Deployment(h.ctx(), h.call(box), base.Deployment))(h)
		text = d.Answer().Deployment.Update + " " + d.Release.Version
	}
	if base.Sleep < 2*time.Hour {
		text += " wakes"
	}
	if turns() > before {
		text += " takes its turn"
	}
	return text
}

func (h *house) progress() *census.Store {
	return census.NewStore(h.db, census.Settings{Shards: 1, PollInterval: time.Minute, GuardInterval: time.Minute}, h.seen)
}

// why is what an operator is told about a box.
func (h *house) why(box string) string {
	w, err := h.progress().Why(h.ctx(), owner, h.id(box))
	if err != nil {
		return string(problem.From(err).Code)
	}
	text := fmt.Sprintf("%s %q", w.Reason, w.Version)
	if w.Source != "" {
		text += " " + string(w.Source)
	}
	if w.Towards != "" {
		text += " towards " + w.Towards
	}
	return text
}

// list is for what a box waits, in a list of waiting boxes.
func (h *house) list(box string) string {
	h.Helper()
	page, err := edge.NewStore(h.db).Waiting(decide.Waiting(h.db, h.seen)).List(h.ctx(), edge.Filter{OrganizationID: h.name, State: "waiting"}, dynamo.Span{Limit: 50})
	if err != nil {
		return string(problem.From(err).Code)
	}
	for _, e := range page.Items {
		if e.EdgeID == h.id(box) {
			return e.Waits
		}
	}
	return "none"
}
