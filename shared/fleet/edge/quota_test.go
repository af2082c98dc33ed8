package edge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A gate is a registry with quotas, and a clock.
type gate struct {
	*testing.T
	db    *dynamo.DB
	edges *edge.Registry
	org   string
	now   time.Time
}

func gates(t *testing.T, q edge.Quotas, test func(g *gate)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		g := &gate{T: t, org: "acme-" + uuid.NewString(), now: time.Date(2026, 3, 1, 23, 59, 0, 0, time.UTC)}
		g.db = dynamo.Open(client, func() time.Time { return g.now })
		g.edges = edge.NewRegistry(g.db, 1).Within(q)
		test(g)
	})
}

func (g *gate) ctx() context.Context { return admission.Unlimited(g.Context()) }

func (g *gate) by(name string, roles ...auth.Role) auth.Principal {
	return auth.Principal{Issuer: "https://people.example", UserID: name, OrganizationID: g.org, Roles: roles}
}

func (g *gate) put(caller auth.Principal, id string) error {
	return g.assign(caller, id, edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: g.org})
}

func (g *gate) assign(caller auth.Principal, id string, a edge.Assignment) error {
	_, err := g.edges.For(caller).Put(g.ctx(), audit.Origin{}, g.org+"-"+id, a, input.Preconditions{})
	return err
}

func (g *gate) batch(caller auth.Principal, ids ...string) error {
	var batch []edge.BatchItem
	for _, id := range ids {
		batch = append(batch, edge.BatchItem{EdgeID: g.org + "-" + id, Assignment: edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: g.org}})
	}
	_, err := g.edges.For(caller).PutAll(g.ctx(), audit.Origin{}, batch, idempotency.Claim{}, func(context.Context) (error, error) { return nil, nil })
	return err
}

func (g *gate) retire(id string) {
	g.Helper()
	owner := auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}
	if err := g.edges.For(owner).Retire(g.ctx(), audit.Origin{}, g.org+"-"+id, input.Preconditions{}); err != nil {
		g.Fatal(err)
	}
}

// TestQuota_Installer_RegistersSoManyADay, and then waits for the next one. Whoever has its token takes no more ids.
func TestQuota_Installer_RegistersSoManyADay(t *testing.T) {
	gates(t, edge.Quotas{Boxes: 1000, Daily: 3}, func(g *gate) {
		ines, other := g.by("ines", auth.FleetInstaller), g.by("otto", auth.FleetInstaller)
		for range 2 { // to send a list again costs nothing
			expect.OK(t, errors.Join(g.put(ines, "1"), g.batch(ines, "1", "2")))
		}
		err := g.batch(ines, "3", "4")
		p, ok := errors.AsType[*problem.Error](err)
		if !ok || p.Code != problem.RateLimited || strings.Join(p.Policies, "") != "registrations" || p.RetryAfter != time.Minute || !strings.Contains(p.Detail, "3 a day") {
			t.Fatalf("got %+v", p)
		}
		err = errors.Join(g.put(ines, "3"), g.put(other, "4"), g.put(g.by("anna", auth.OrganizationAdmin), "5"))
		expect.That(t, err == nil, "within the quota: %v", err)
		err = g.put(ines, "6")
		expect.That(t, problem.Has(err, problem.RateLimited), "got %v", err)
		err = g.batch(other, strings.Split("7 8 9 10", " ")...)
		expect.That(t, problem.Has(err, problem.RateLimited), "more than a day allows, at once: %v", err)
		g.now = g.now.Add(time.Minute)
		err = g.batch(ines, "6", "7", "8")
		expect.That(t, err == nil, "the next day: %v", err)
	})
}

// TestQuota_Organization_HasSoManyBoxes: one that was retired makes room, after a minute.
func TestQuota_Organization_HasSoManyBoxes(t *testing.T) {
	gates(t, edge.Quotas{Boxes: 3, Daily: 1000}, func(g *gate) {
		anna := g.by("anna", auth.OrganizationAdmin)
		expect.OK(t, errors.Join(g.put(anna, "1"), g.batch(anna, "2", "3")))
		full := func(ids ...string) {
			t.Helper()
			p, ok := errors.AsType[*problem.Error](g.batch(anna, ids...))
			expect.That(t, ok && p.Code == problem.Conflict && strings.Contains(p.Detail, "at most 3 boxes"),
				"got %v", p)
		}
		full("4")
		full("3", "4")
		if err := g.batch(anna, "1", "2", "3"); err != nil {
			t.Errorf("the boxes that are there: %v", err)
		}
		g.retire("1")
		full("4")
		g.now = g.now.Add(time.Minute)
		full("4", "5")
		g.now = g.now.Add(time.Minute)
		err := g.put(anna, "4")
		expect.That(t, err == nil, "after one was retired: %v", err)
		full("5")
	})
}

// TestQuota_BoxesOfBefore_AreCounted although no tally has seen them.
func TestQuota_BoxesOfBefore_AreCounted(t *testing.T) {
	gates(t, edge.Quotas{Boxes: 5, Daily: 1000}, func(g *gate) {
		anna, before := g.by("anna", auth.OrganizationAdmin), edge.NewRegistry(g.db, 1)
		quotas := g.edges
		g.edges = before
		expect.OK(t, g.batch(anna, "1", "2", "3", "4", "5"))
		g.edges = quotas
		err := g.put(anna, "6")
		expect.That(t, problem.Has(err, problem.Conflict), "got %v", err)
	})
}

// TestQuota_ManyAtOnce_ExceedItByNone: they count in one item, one after the other, and do not conflict.
func TestQuota_ManyAtOnce_ExceedItByNone(t *testing.T) {
	gates(t, edge.Quotas{Boxes: 100_000, Daily: 25}, func(g *gate) {
		ines := g.by("ines", auth.FleetInstaller)
		errs := make([]error, 40)
		var group sync.WaitGroup
		for i := range errs {
			group.Go(func() { errs[i] = g.put(ines, fmt.Sprint(i)) })
		}
		group.Wait()
		registered := 0
		for _, err := range errs {
			if err == nil {
				registered++
			} else if !problem.Has(err, problem.RateLimited) {
				t.Error(err)
			}
		}
		expect.That(t, registered == 25, "%d were registered", registered)
	})
}

// TestQuota_ManyDays_LeaveNoLargeItem: each registration pays for the size of the tally.
func TestQuota_ManyDays_LeaveNoLargeItem(t *testing.T) {
	gates(t, edge.Quotas{Boxes: 100_000, Daily: 5}, func(g *gate) {
		for day := range 60 {
			g.now = g.now.Add(24 * time.Hour)
			expect.OK(t, g.put(g.by("ines", auth.FleetInstaller), fmt.Sprint(day)))
		}
		var item map[string]any
		_, err := g.db.Get(t.Context(), dynamo.RateCounters, dynamo.Key{"subject": "edges#" + g.org}, &item)
		expect.That(t, err == nil && len(item) <= 30 && item["n"] == 60.0, "%v, %v", item, err)
	})
}

// TestTakeOver_BoxesOfAnotherOrganization_AreTheOwnersToGive, each with its event and its outcome.
func TestTakeOver_BoxesOfAnotherOrganization_AreTheOwnersToGive(t *testing.T) {
	gates(t, edge.Quotas{Boxes: 100, Daily: 100}, func(g *gate) {
		rival := auth.Principal{OrganizationID: "rival-" + g.org, Roles: []auth.Role{auth.FleetInstaller}}
		taken := edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: rival.OrganizationID, TokenSHA256: strings.Repeat("a", 64)}
		expect.Value(g.edges.For(rival).Put(g.ctx(), audit.Origin{}, g.org+"-1", taken, input.Preconditions{}))(t)
		owner := auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}
		expect.OK(t, g.put(owner, "2"))
		var batch []edge.BatchItem
		for n := range 3 {
			batch = append(batch, edge.BatchItem{EdgeID: fmt.Sprintf("%s-%d", g.org, n+1), Assignment: edge.Assignment{
				EdgeType: "gateway-x", Channel: "stable", OrganizationID: g.org, TakeOver: true}})
		}
		check := func(context.Context) (error, error) { return nil, nil }
		admin := g.by("anna", auth.OrganizationAdmin)
		if _, err := g.edges.For(admin).PutAll(g.ctx(), audit.Origin{}, batch, idempotency.Claim{}, check); !problem.Has(err, problem.Forbidden) {
			t.Errorf("an admin: %v", err)
		}
		got, err := g.edges.For(owner).PutAll(g.ctx(), audit.Origin{}, batch, idempotency.Claim{}, check)
		want := fmt.Sprintf("{1 0 1 1 [{%[1]s-1 takenOver} {%[1]s-2 unchanged} {%[1]s-3 registered}]}", g.org)
		expect.Must(t, err == nil && fmt.Sprint(got) == want, "got %v, %v; want %s", got, err, want)
		is, err := g.edges.Find(g.ctx(), g.org+"-1")
		expect.That(t, err == nil && is.Edge.OrganizationID == g.org && !is.Row.Tokens.Exists(),
			"stored %+v, %v", is, err)
		page, err := audit.NewLog(g.db).List(g.ctx(), audit.Box(g.org+"-1"), audit.Filter{ResourceType: edge.ResourceType, ResourceID: g.org + "-1"}, "", 10)
		expect.That(t, err == nil && len(page.Items) == 3 && page.Items[0].EventName == "EdgeTakenOver" && page.Items[1].EventName == "EdgeLeft",
			"the trail has %+v, %v", page.Items, err)
	})
}
