package edge_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

func of(organization string, role auth.Role) auth.Principal {
	return auth.Principal{UserID: "u", OrganizationID: organization, Roles: []auth.Role{role}}
}

// A yard is a box of acme on stable, with a registry for each caller.
type yard struct {
	*testing.T
	registry *edge.Registry
	reports  *report.Store
	id       string
}

func inYard(t *testing.T, test func(y *yard)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		y := &yard{t, edge.NewRegistry(db, 1), report.NewStore(db, 1), "box-" + uuid.NewString()}
		test(y)
	})
}

func (y *yard) ctx() context.Context { return admission.Unlimited(y.Context()) }

func (y *yard) put(p auth.Principal, channel, organization string) error {
	_, err := y.registry.For(p).Put(y.ctx(), audit.Origin{}, y.id, edge.Assignment{EdgeType: "g", Channel: channel, OrganizationID: organization}, input.Preconditions{})
	return err
}

func (y *yard) batch(p auth.Principal, sha256 string) error {
	batch := []edge.BatchItem{{EdgeID: y.id, Assignment: edge.Assignment{EdgeType: "g", Channel: "stable", OrganizationID: "acme", TokenSHA256: sha256}}}
	_, err := y.registry.For(p).PutAll(y.ctx(), audit.Origin{}, batch, idempotency.Claim{}, func(context.Context) (refusal, err error) { return nil, nil })
	return err
}

func (y *yard) setToken(p auth.Principal, sha256 string) error {
	return y.registry.For(p).SetToken(y.ctx(), audit.Origin{}, y.id, sha256, input.Preconditions{})
}

// is fails unless an error has the code; with an empty code, unless there is no error.
func (y *yard) is(want problem.Code, err error) {
	y.Helper()
	if want == "" && err != nil || want != "" && !problem.Has(err, want) {
		y.Errorf("got %v, want %q", err, want)
	}
}

// TestInstaller_RegistersWhatIsNew_AndNeverTouchesABoxThatRuns: whoever steals a flash station gets no running box.
func TestInstaller_RegistersWhatIsNew_AndNeverTouchesABoxThatRuns(t *testing.T) {
	installer, admin := of("acme", auth.FleetInstaller), of("acme", auth.OrganizationAdmin)
	inYard(t, func(y *yard) {
		y.is("", y.put(installer, "stable", "acme"))
		y.is("", y.put(installer, "stable", "acme")) // nothing changes
		y.is(problem.Forbidden, y.put(installer, "canary", "acme"))
		y.is(problem.NotFound, y.put(installer, "stable", "rival"))
		y.is("", y.setToken(installer, "a"))
		y.is("", y.setToken(installer, "a")) // nothing changes
		y.is(problem.Forbidden, y.setToken(installer, "b"))
		y.is("", y.batch(installer, "a"))
		y.is(problem.Forbidden, y.batch(installer, "b"))
		y.is("", y.registry.For(admin).EndTokens(y.ctx(), audit.Origin{}, y.id, input.Preconditions{}))
		y.is(problem.Forbidden, y.setToken(installer, "a")) // it had one
		y.is(problem.Forbidden, y.batch(installer, "a"))
		y.is("", y.setToken(admin, "b"))
		y.is("", y.put(admin, "canary", "acme"))
		y.is(problem.Forbidden, y.put(installer, "stable", "acme"))
	})
}

func TestAdmin_OfAnotherOrganization_FindsNoBox(t *testing.T) {
	inYard(t, func(y *yard) {
		y.is("", y.put(of("", auth.PlatformOwner), "stable", "acme"))
		for _, role := range []auth.Role{auth.OrganizationAdmin, auth.FleetInstaller} {
			p := of("rival", role)
			when := input.Matching(`"7"`)
			y.is(problem.NotFound, y.put(p, "stable", "acme"))
			y.is(problem.NotFound, y.put(p, "stable", "rival"))
			y.is(problem.NotFound, y.setToken(p, "a"))
			y.is(problem.NotFound, y.batch(p, "a"))
			y.is(problem.NotFound, y.registry.For(p).EndTokens(y.ctx(), audit.Origin{}, y.id, when))
			y.is(problem.NotFound, y.registry.For(p).Retire(y.ctx(), audit.Origin{}, y.id, when))
		}
		there := y.id
		y.id = "none-" + there
		when := input.Matching(`"1"`)
		for _, id := range []string{there, y.id} { // a condition does not reveal whether there is a box
			rival := y.registry.For(of("rival", auth.OrganizationAdmin))
			y.is(problem.NotFound, rival.Retire(y.ctx(), audit.Origin{}, id, when))
			y.is(problem.NotFound, rival.EndTokens(y.ctx(), audit.Origin{}, id, when))
			y.is(problem.NotFound, rival.SetToken(y.ctx(), audit.Origin{}, id, "a", when))
			_, err := rival.Put(y.ctx(), audit.Origin{}, id, edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "rival"}, when)
			y.is(problem.PreconditionFailed, err)
		}
		y.id = there
		y.is("", y.registry.For(of("acme", auth.OrganizationAdmin)).Retire(y.ctx(), audit.Origin{}, y.id, input.Preconditions{}))
	})
}

// TestInstaller_FillsAGroupOfItsOwnWhileNoBoxRuns_AndJoinsNoOther: a box of a stolen flash station keeps no pair waiting.
func TestInstaller_FillsAGroupOfItsOwnWhileNoBoxRuns_AndJoinsNoOther(t *testing.T) {
	installer, other, admin := of("acme", auth.FleetInstaller), of("acme", auth.FleetInstaller), of("acme", auth.OrganizationAdmin)
	other.UserID = "v"
	inYard(t, func(y *yard) {
		plant := "plant-" + uuid.NewString()
		boxes := 0
		join := func(p auth.Principal, group string) error {
			boxes++
			_, err := y.registry.For(p).Put(y.ctx(), audit.Origin{}, fmt.Sprintf("%s-%d", y.id, boxes),
				edge.Assignment{EdgeType: "g", Channel: "stable", OrganizationID: "acme", FactoryID: &plant, Group: &group}, input.Preconditions{})
			return err
		}
		y.is("", join(installer, "pair"))
		y.is("", join(installer, "pair"))
		y.is(problem.Forbidden, join(other, "pair"))
		y.is("", join(admin, "pair"))
		y.is(problem.Forbidden, join(installer, "pair")) // no longer only its own boxes

		y.is("", join(admin, "line"))
		y.is(problem.Forbidden, join(installer, "line"))

		y.is("", join(installer, "cell"))
		row := expect.Value(y.reports.Get(y.ctx(), fmt.Sprintf("%s-%d", y.id, boxes)))(y)
		expect.Value(y.reports.Observe(y.ctx(), edge.Of(row).Registration(), report.Polled{Told: "1.0.0", Subject: "s", At: time.Now()}))(y)
		y.is(problem.Forbidden, join(installer, "cell")) // one of its boxes runs
		y.is("", join(admin, "cell"))
	})
}

// TestRegistry_OfNobody_ChangesNothing: a function may forget to name the caller.
func TestRegistry_OfNobody_ChangesNothing(t *testing.T) {
	inYard(t, func(y *yard) { y.is(problem.NotFound, y.put(auth.Principal{}, "stable", "acme")) })
}

func TestMayInstall_PlacesOfTheToken_BoundAnInstaller(t *testing.T) {
	p := of("acme", auth.FleetInstaller)
	p.Places = auth.Places{Factories: []string{"munich-1"}, Channels: []string{"g/stable"}}
	for name, c := range map[string]struct {
		organization, factory, channel string
		want                           problem.Code
	}{
		"its place":            {"acme", "munich-1", "stable", ""},
		"another factory":      {"acme", "munich-2", "stable", problem.Forbidden},
		"no factory":           {"acme", "", "stable", problem.Forbidden},
		"another channel":      {"acme", "munich-1", "canary", problem.Forbidden},
		"another organization": {"rival", "munich-1", "stable", problem.NotFound},
	} {
		if err := edge.MayInstall(p, c.organization, c.factory, "g", c.channel); c.want == "" && err != nil || c.want != "" && !problem.Has(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
