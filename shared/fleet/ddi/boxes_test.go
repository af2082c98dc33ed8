package ddi_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// A counted client counts read units of small items, and writes.
type counted struct {
	dynamo.API
	mu     sync.Mutex // calls are made at the same time
	units  float64
	writes int
}

func (c *counted) count(units float64, writes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.units, c.writes = c.units+units, c.writes+writes
}

func (c *counted) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	units := 0.5
	if *in.ConsistentRead {
		units = 1
	}
	c.count(units, 0)
	return c.API.GetItem(ctx, in, o...)
}

func (c *counted) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	c.count(0, 1)
	return c.API.UpdateItem(ctx, in, o...)
}

const issuer = "https://fleet.example"

// A fleet is one box of acme on its own channel, with the service for it.
type fleet struct {
	*testing.T
	api      *counted
	db       *dynamo.DB
	boxes    *ddi.Boxes
	edgeType string
	box      string
	lineage  release.Lineage // of the next publications
}

func each(t *testing.T, test func(f *fleet)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		api := &counted{API: client}
		f := &fleet{T: t, api: api, db: dynamo.Open(api, time.Now), edgeType: "t-" + uuid.NewString(), box: "b-" + uuid.NewString()}
		f.boxes = ddi.NewBoxes(f.db, polling.Settings{PollInterval: time.Minute, ChannelCache: time.Hour, Shards: 1, Issuers: issuer}, nil, time.Now)
		f.publish("1.0.0", release.Details{SizeBytes: 10, SHA1: strings.Repeat("1", 40)})
		if _, err := edge.NewRegistry(f.db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}).Put(f.ctx(), audit.Origin{}, f.box,
			edge.Assignment{EdgeType: f.edgeType, Channel: "stable", OrganizationID: "acme"}, input.Preconditions{}); err != nil {
			t.Fatal(err)
		}
		test(f)
	})
}

func (f *fleet) ctx() context.Context { return admission.Unlimited(f.Context()) }

func (f *fleet) publish(version string, d release.Details) {
	f.Helper()
	if _, err := publication.NewStore(f.db).Publish(f.ctx(), audit.Origin{}, release.Publication{EdgeType: f.edgeType, Channel: "stable",
		CurrentVersion: version, ArtifactURL: "https://a.example/" + version + ".swu", SHA256: strings.Repeat("a", 64), Details: d, Lineage: f.lineage}, input.Preconditions{}); err != nil {
		f.Fatal(err)
	}
}

func (f *fleet) call() ddi.ClientCall {
	return ddi.ClientCall{Tenant: "acme", ControllerID: f.box, Counts: counts,
		Caller: auth.Principal{Issuer: issuer, UserID: f.box, Roles: []auth.Role{auth.Edge}}}
}

func counts(_ context.Context, box auth.Principal) (string, error) { return box.Counted(), nil }

func (f *fleet) poll() ddi.Base {
	f.Helper()
	base, err := f.boxes.Poll(f.ctx(), f.call())
	if err != nil || base.Unrecorded != nil {
		f.Fatal(err, base.Unrecorded)
	}
	return base
}

func (f *fleet) says(event ddi.Feedback) {
	f.Helper()
	if err := f.boxes.Report(f.ctx(), f.call(), event); err != nil {
		f.Fatal(err)
	}
}

func (f *fleet) states(running string) {
	f.Helper()
	if err := f.boxes.State(f.ctx(), f.call(), ddi.Statement{Running: running}); err != nil {
		f.Fatal(err)
	}
}

// TestPoll_NothingNew_CostsAsMuchAsAManifest_AndNoWrite: even while an action is told again.
func TestPoll_NothingNew_CostsAsMuchAsAManifest_AndNoWrite(t *testing.T) {
	each(t, func(f *fleet) {
		if first := f.poll(); !first.Identify || first.Deployment != 0 {
			f.Fatalf("the first poll is answered with %+v", first)
		}
		told := f.poll()
		if told.Deployment == 0 {
			f.Fatalf("the second poll is answered with %+v", told)
		}
		f.api.units, f.api.writes = 0, 0
		if again := f.poll(); again.Deployment != told.Deployment || f.api.units != 0.5 || f.api.writes != 0 {
			f.Errorf("told again: %+v, %g units, %d writes", again, f.api.units, f.api.writes)
		}
		f.states("1.0.0")
		f.poll()
		f.api.units, f.api.writes = 0, 0
		if none := f.poll(); none.Deployment != 0 || f.api.units != 0.5 || f.api.writes != 0 {
			f.Errorf("nothing new: %+v, %g units, %d writes", none, f.api.units, f.api.writes)
		}
	})
}

func TestPoll_ReleaseWithoutSizeOrSHA1_IsNotTold(t *testing.T) {
	for name, d := range map[string]release.Details{"neither": {}, "no size": {SHA1: strings.Repeat("1", 40)}, "no SHA-1": {SizeBytes: 10}} {
		t.Run(name, func(t *testing.T) {
			each(t, func(f *fleet) {
				f.publish("1.1.0", d)
				f.poll()
				f.states("1.0.0")
				if base := f.poll(); base.Deployment != 0 || base.Cancel != 0 {
					f.Errorf("told %+v", base)
				}
			})
		})
	}
}

// TestPoll_OnTheWay_TheStoneIsToldFirst: 3.0.0 requires 2.0.0. The box is told 3.0.0 once it has booted 2.0.0, and nothing if
// 2.0.0 lacks the details that its client needs.
func TestPoll_OnTheWay_TheStoneIsToldFirst(t *testing.T) {
	for name, c := range map[string]struct {
		details release.Details
		told    bool
	}{"described": {release.Details{SizeBytes: 10, SHA1: strings.Repeat("1", 40)}, true}, "not described": {release.Details{}, false}} {
		t.Run(name, func(t *testing.T) {
			each(t, func(f *fleet) {
				f.lineage = release.Lineage{Order: 1<<30 + 1}
				f.publish("2.0.0", c.details)
				f.lineage = release.Lineage{Order: 1<<30 + 2, Requires: "2.0.0"}
				f.publish("3.0.0", release.Details{SizeBytes: 10, SHA1: strings.Repeat("1", 40)})
				f.poll()
				f.states("0.1.0")
				action := f.poll().Deployment
				if told := action != 0; told != c.told {
					f.Fatalf("told: %t", told)
				} else if !told {
					return
				}
				if d, err := f.boxes.Deployment(f.ctx(), f.call(), action); err != nil || d.Release.Version != "2.0.0" {
					f.Errorf("told %s, %v", d.Release.Version, err)
				}
				f.says(ddi.Feedback{Action: action, Progress: ddi.Written, At: f.db.Now()})
				if next := f.poll().Deployment; next != 0 {
					f.Errorf("told the action %d before it has booted the stone", next)
				}
				f.states("2.0.0")
				if d, err := f.boxes.Deployment(f.ctx(), f.call(), f.poll().Deployment); err != nil || d.Release.Version != "3.0.0" {
					f.Errorf("told %s, %v", d.Release.Version, err)
				}
			})
		})
	}
}

// TestDeployment_ActionThatIsNotTold_IsNotFound: only the present one is shown.
func TestDeployment_ActionThatIsNotTold_IsNotFound(t *testing.T) {
	each(t, func(f *fleet) {
		f.poll()
		action := f.poll().Deployment
		d, err := f.boxes.Deployment(f.ctx(), f.call(), action)
		if err != nil || d.Release.Version != "1.0.0" || d.Answer().Deployment.Chunks[0].Artifacts[0].Filename != "1.0.0.swu" {
			f.Fatalf("got %+v, %v", d, err)
		}
		for _, other := range []int64{0, action - 1, action + 1} {
			if _, err := f.boxes.Deployment(f.ctx(), f.call(), other); !problem.Has(err, problem.NotFound) {
				f.Errorf("the action %d: %v", other, err)
			}
		}
		f.says(ddi.Feedback{Action: action, Progress: ddi.Written, At: f.db.Now()})
		if _, err := f.boxes.Deployment(f.ctx(), f.call(), action); !problem.Has(err, problem.NotFound) {
			f.Errorf("a closed action: %v", err)
		}
		before := expect.Value(report.NewStore(f.db, 1).Get(f.ctx(), f.box))(f)
		f.says(ddi.Feedback{Action: action + 100, Progress: ddi.Broken, At: f.db.Now()})
		after := expect.Value(report.NewStore(f.db, 1).Get(f.ctx(), f.box))(f)
		expect.Equal(f, after.Heard, []report.Heard{{Way: report.ByFeedback, Heard: input.Heard{Field: "actionId", Said: strconv.FormatInt(action+100, 10)}}}, "feedback about an action that never existed")
		expect.Equal(f, after.Offer, before.Offer, "the offer after it")
	})
}

// TestCalls_ByOthers_AreNotFound: such as another organization, box or issuer.
func TestCalls_ByOthers_AreNotFound(t *testing.T) {
	each(t, func(f *fleet) {
		_, gateway := boxtoken.New(boxtoken.Gateway, "rival")
		for name, change := range map[string]func(*ddi.ClientCall){
			"another tenant in the path":       func(c *ddi.ClientCall) { c.Tenant = "rival" },
			"another box in the path":          func(c *ddi.ClientCall) { c.ControllerID = "box-2" },
			"a box that is not there":          func(c *ddi.ClientCall) { c.ControllerID, c.Caller.UserID = "nobody", "nobody" },
			"another issuer":                   func(c *ddi.ClientCall) { c.Caller.Issuer = "https://people.example" },
			"an organization in another token": func(c *ddi.ClientCall) { c.Caller.OrganizationID = "rival" },
			"another organization's gateway": func(c *ddi.ClientCall) {
				c.Caller = boxtoken.CallerFor(gateway.Principal("rival", ""), c.ControllerID)
			},
		} {
			c := f.call()
			change(&c)
			if _, err := f.boxes.Poll(f.ctx(), c); !problem.Has(err, problem.NotFound) {
				f.Errorf("%s: %v", name, err)
			}
			if err := f.boxes.State(f.ctx(), c, ddi.Statement{Running: "9"}); !problem.Has(err, problem.NotFound) {
				f.Errorf("%s reports: %v", name, err)
			}
		}
	})
}
