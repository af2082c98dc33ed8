package enrolment_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

var (
	owner = auth.Principal{UserID: "olga", Roles: []auth.Role{auth.PlatformOwner}}
	admin = auth.Principal{UserID: "anna", OrganizationID: "acme", Roles: []auth.Role{auth.OrganizationAdmin}}
	rival = auth.Principal{UserID: "rita", OrganizationID: "rival", Roles: []auth.Role{auth.OrganizationAdmin}}
)

// A world is a store with one enrolment of acme, which lists the box w.box, and a clock.
type world struct {
	*testing.T
	client     *dynamodb.Client
	db         *dynamo.DB
	edges      *edge.Registry
	enrolments *enrolment.Registry
	now        time.Time
	box        string
	id         string
	code       auth.Principal
}

func each(t *testing.T, test func(w *world)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		w := &world{T: t, client: client, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), box: "sn-" + uuid.NewString()}
		w.db = dynamo.Open(client, func() time.Time { return w.now })
		w.edges = edge.NewRegistry(w.db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}})
		w.enrolments = enrolment.NewRegistry(w.db, w.edges)
		w.id, w.code = w.enrolment(w.box)
		test(w)
	})
}

func (w *world) ctx() context.Context { return admission.Unlimited(w.Context()) }

// enrolment makes an enrolment that lists ids, and returns its id and the caller who has its code.
func (w *world) enrolment(ids ...string) (id string, code auth.Principal) {
	w.Helper()
	plan := enrolment.Plan{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", EdgeIDs: ids, ExpiresAt: w.now.Add(time.Hour)}
	id, text, err := w.enrolments.Create(w.ctx(), audit.Origin{}, plan, idempotency.Claim{})
	if err != nil {
		w.Fatal(err)
	}
	token, ok := boxtoken.Parse("wavegate-enrol:" + text)
	if !ok {
		w.Fatalf("%q is not a code", text)
	}
	p, known, err := w.enrolments.Verify(w.ctx(), token)
	if err != nil || !known || p.UserID != id {
		w.Fatal(p, known, err)
	}
	return id, p
}

// hash is the hash of the n-th token of the box.
func hash(n int) string { return fmt.Sprintf("%064x", n) }

func (w *world) redeem(id, sha256 string) (enrolment.Outcome, error) {
	return w.redeemFrom("", id, sha256)
}

func (w *world) redeemFrom(address, id, sha256 string) (enrolment.Outcome, error) {
	_, outcome, err := w.enrolments.Redeem(w.ctx(), audit.Origin{SourceIP: address}, w.code, enrolment.Pair{EdgeID: id, TokenSHA256: sha256})
	return outcome, err
}

// must redeems, and expects an outcome.
func (w *world) must(want enrolment.Outcome, id, sha256 string) {
	w.Helper()
	if got, err := w.redeem(id, sha256); err != nil || got != want {
		w.Fatalf("got %v, %v; want %v", got, err, want)
	}
}

func (w *world) accept(pairs ...enrolment.Pair) error {
	return w.enrolments.Accept(w.ctx(), audit.Origin{}, admin, w.id, pairs)
}

func (w *world) details() enrolment.Details {
	w.Helper()
	d, err := w.enrolments.Get(w.ctx(), admin, w.id)
	if err != nil {
		w.Fatal(err)
	}
	return d
}

func (w *world) stored(id string) edge.Stored {
	w.Helper()
	is, err := w.edges.Find(w.ctx(), id)
	if err != nil {
		w.Fatal(err)
	}
	return is
}

func (w *world) register(id string) error {
	_, err := w.edges.Put(w.ctx(), audit.Origin{}, id, edge.Assignment{EdgeType: "gateway-x", Channel: "canary", OrganizationID: "acme"}, input.Preconditions{})
	return err
}
