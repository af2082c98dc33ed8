package method_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/content"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A slow client pauses before some reads, so that the reads for one decision happen at different times.
type slow struct{ dynamo.API }

func (s slow) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if rand.IntN(2) == 0 {
		time.Sleep(rand.N(400 * time.Microsecond))
	}
	return s.API.GetItem(ctx, in, o...)
}

// racers lists the moves of versions and of the method itself, two of which are made at the same time. Version 1 was released and is superseded by version
// 2, which holds. Version 3 waits for an approval.
var racers = []struct {
	name    string
	version int64
	user    string
	move    method.Move
	update  *method.Update // instead of a move
}{
	{"withdraw 2, finish", 2, "anna", method.Move{Status: method.Withdrawn, Reason: "worn tools", Orders: method.Finish}, nil},
	{"withdraw 2, stop", 2, "otto", method.Move{Status: method.Withdrawn, Reason: "danger", Orders: method.Stop}, nil},
	{"withdraw 2, reinstate 1", 2, "anna", method.Move{Status: method.Withdrawn, Reason: "back", Orders: method.Stop, Reinstate: 1}, nil},
	{"withdraw 1", 1, "otto", method.Move{Status: method.Withdrawn, Reason: "bad, too", Orders: method.Stop}, nil},
	{"release 3", 3, "anna", method.Move{Status: method.Released, Reason: "good"}, nil},
	{"release 3, second approver", 3, "otto", method.Move{Status: method.Released, Reason: "good"}, nil},
	{"release 3 later", 3, "otto", method.Move{Status: method.Released, Reason: "next shift", EffectiveFrom: time.Now().Add(24 * time.Hour).UTC().Truncate(time.Millisecond)}, nil},
	{"trial of 3", 3, "anna", method.Move{Status: method.Trial, Reason: "first parts", Machines: []string{"press-1"}}, nil},
	{"return 3", 3, "otto", method.Move{Status: method.Draft, Reason: "wrong unit"}, nil},
	{"withdraw 3", 3, "anna", method.Move{Status: method.Withdrawn, Reason: "not needed"}, nil},
	{"submit 3", 3, "otto", method.Move{Status: method.InReview, Reason: "ready, too"}, nil},
	{name: "rename", version: 3, user: "anna", update: &method.Update{Name: "Press better"}},
	{name: "retire", version: 3, user: "otto", update: &method.Update{Retired: new(true), Reason: "not made any more"}},
	{name: "rename and reopen", version: 3, user: "otto", update: &method.Update{Name: "Press again", Retired: new(false), Reason: "made"}},
}

// TestRaces_EachPairOfMoves_IsAsIfOneCameFirst makes every pair of moves at the same time. The answers and the state
// must be the same as if one of the two came first, and each change has one event. RACE_ROUNDS is the number of rounds of each pair.
func TestRaces_EachPairOfMoves_IsAsIfOneCameFirst(t *testing.T) {
	rounds := raceRounds()
	for i := range racers {
		for j := i; j < len(racers); j++ {
			t.Run(racers[i].name+" ∥ "+racers[j].name, func(t *testing.T) {
				var db *dynamo.DB
				var racing *method.Store
				var slug string
				for round := range rounds {
					if round%20 == 0 { // the embedded store becomes slow as it grows
						store := dynamotest.Embedded(t)
						db, racing = dynamo.Open(store, time.Now), method.NewStore(dynamo.Open(slow{store}, time.Now))
						slug = plant(t, db)
					}
					if fault := race(t, db, racing, slug, i, j); fault != "" {
						t.Fatalf("round %d: %s", round, fault)
					}
				}
			})
		}
	}
}

// raceRounds is how many rounds each pair has.
func raceRounds() int {
	if n, err := strconv.Atoi(os.Getenv("RACE_ROUNDS")); err == nil {
		return n
	}
	return 1
}

// A stage is a method with its three versions.
type stage struct {
	method   method.Method
	versions [4]method.Version
}

func race(t *testing.T, db *dynamo.DB, racing *method.Store, slug string, i, j int) string {
	t.Helper()
	methods, ref := staged(t, db, slug)
	was := look(t, methods, ref)
	errs := make(chan error, 1)
	make := func(k int) error {
		r := ref
		r.Version = racers[k].version
		if u := racers[k].update; u != nil {
			_, err := racing.Update(admission.Unlimited(context.Background()), person(racers[k].user), origin, r, *u, input.Preconditions{})
			return err
		}
		_, err := racing.Move(admission.Unlimited(context.Background()), person(racers[k].user), origin, r, wish(was, k), input.Preconditions{})
		return err
	}
	go func() { errs <- make(i) }()
	second := make(j)
	first := <-errs
	now := look(t, methods, ref)
	got := told(now, first, second)
	now.hasEvents(t, db, ref)
	forward, backward := was.then(i, j), was.then(j, i)
	if got != forward.told() && got != backward.swapped() {
		return fmt.Sprintf("\n%s\nwant\n%s\nor\n%s", got, forward.told(), backward.swapped())
	}
	return ""
}

// wish is a move with the content that its signer has read.
func wish(s stage, k int) method.Move {
	m := racers[k].move
	if m.Status == method.Trial || m.Status == method.Released {
		m.ContentSHA256 = s.versions[racers[k].version].ContentSHA256
	}
	if m.Status == method.Released {
		m.FirstArticle = &method.FirstArticle{Reference: "FAI-1"}
	}
	return m
}

// A sequel is the result of two moves on a stage, one after the other.
type sequel struct {
	stage
	first, second error
}

func (s stage) then(i, j int) sequel {
	var x sequel
	x.stage = s
	x.first = x.make(s, i)
	x.second = x.make(s, j)
	return x
}

func (x *sequel) make(was stage, k int) error {
	m := wish(was, k)
	at := time.Now().UTC().Truncate(time.Millisecond)
	if u := racers[k].update; u != nil {
		return x.update(*u)
	}
	o, err := x.method.Move(x.versions[racers[k].version], x.versions[m.Reinstate], m, method.SignerOf(person(racers[k].user)), factory.FourEyes, at)
	if err == nil && o.Event != "" {
		x.method, x.versions[racers[k].version] = o.Method, o.Version
	}
	return err
}

// update is what an update does, by the README: only a method of which nothing holds or is open is retired.
func (x *sequel) update(u method.Update) error {
	busy := len(x.method.Effectivity) > 0 || x.versions[3].Status == method.Draft || x.versions[3].Status == method.InReview
	if u.Retired != nil && *u.Retired && busy {
		return problem.New(problem.InvalidStateTransition, "busy")
	}
	x.method.Name = cmp.Or(u.Name, x.method.Name)
	return nil
}

// hasEvents checks that each revision of the method and of its versions has one event.
func (s stage) hasEvents(t *testing.T, db *dynamo.DB, ref method.Ref) {
	t.Helper()
	revisions := map[string]int64{method.ResourceType + " " + s.method.MethodID: s.method.Revision}
	for _, v := range s.versions[1:] {
		revisions[method.VersionResourceType+" "+v.ID()] = v.Revision
	}
	for of, revision := range revisions {
		kind, id, _ := strings.Cut(of, " ")
		page := expect.Value(audit.NewLog(db).List(t.Context(), audit.Factory(ref.FactoryID), audit.Filter{ResourceType: kind, ResourceID: id}, "", 100))(t)
		expect.That(t, int64(len(page.Items)) == revision, "%s has %d events and the revision %d", of, len(page.Items), revision)
	}
}

func (x sequel) told() string    { return told(x.stage, x.first, x.second) }
func (x sequel) swapped() string { return told(x.stage, x.second, x.first) }

// told writes a stage and two answers as a text, without times.
func told(s stage, first, second error) string {
	var b strings.Builder
	for _, err := range []error{first, second} {
		if err == nil {
			b.WriteString("ok ")
		} else {
			b.WriteString(string(problem.From(err).Code) + " ")
		}
	}
	for _, v := range s.versions[1:] {
		fmt.Fprintf(&b, "\n%d %s %s %d authors:", v.Version, v.Status, v.Orders, len(v.Authors))
		for _, g := range v.Signatures {
			fmt.Fprintf(&b, " %s %s %q %v", g.Meaning, g.UserID, g.Reason, g.Further)
		}
	}
	fmt.Fprintf(&b, "\n%s, retired %t", s.method.Name, s.method.Retired != nil)
	for _, d := range s.method.Effectivity {
		fmt.Fprintf(&b, "\nholds %d %v %v", d.Version, d.Machines, d.From.After(time.Now().Add(time.Hour)))
	}
	for _, w := range s.method.Withdrawals {
		fmt.Fprintf(&b, "\nwithdrawn %d %s", w.Version, w.Orders)
	}
	return b.String()
}

func person(user string) auth.Principal {
	return auth.Principal{Issuer: "https://people.example", UserID: user, OrganizationID: "acme", Roles: []auth.Role{auth.OrganizationAdmin}}
}

// plant makes a factory with a press.
func plant(t *testing.T, db *dynamo.DB) (slug string) {
	t.Helper()
	ctx := admission.Unlimited(context.Background())
	slug = uuid.NewString()
	_, err := factory.NewStore(db).Put(ctx, origin, slug, factory.Registration{OrganizationID: "acme", Name: "A factory"}, input.Preconditions{})
	if err == nil {
		_, err = machine.NewStore(db).Put(ctx, engineer, origin, slug, "press-1", machine.Registration{Name: "Press", Classes: []string{"press"}}, input.Preconditions{})
	}
	expect.OK(t, err)
	return slug
}

// staged makes a method with three versions.
func staged(t *testing.T, db *dynamo.DB, slug string) (*method.Store, method.Ref) {
	t.Helper()
	ctx, methods := admission.Unlimited(context.Background()), method.NewStore(db)
	must := func(err error) {
		t.Helper()
		expect.OK(t, err)
	}
	id, err := methods.Create(ctx, engineer, origin, slug, draft, idempotency.Claim{})
	must(err)
	ref := method.Ref{FactoryID: slug, MethodID: id}
	for n := int64(1); n <= 3; n++ {
		ref.Version = n
		hash := reviewed(t, methods, ref)
		if n < 3 {
			_, err = methods.Move(ctx, person("anna"), origin, ref, method.Move{Status: method.Released, Reason: "good", ContentSHA256: hash}, input.Preconditions{})
			must(err)
		}
	}
	return methods, ref
}

func look(t *testing.T, methods *method.Store, ref method.Ref) (s stage) {
	t.Helper()
	var err error
	s.method, err = methods.Get(t.Context(), engineer, ref.FactoryID, ref.MethodID)
	expect.OK(t, err)
	page := expect.Value(methods.Versions(t.Context(), engineer, ref.FactoryID, ref.MethodID, dynamo.Span{Limit: 10}))(t)
	for _, v := range slices.Backward(page.Items) {
		s.versions[v.Version.Version] = v.Version
	}
	return s
}

// reviewed saves and submits a version, and returns the hash of its content.
func reviewed(t *testing.T, methods *method.Store, r method.Ref) string {
	t.Helper()
	c, faults := content.Parse([]byte(`{"form":1,"basis":{"quantity":1,"unit":"{piece}"},"steps":[{"id":"10","name":"Press ` + strconv.FormatInt(r.Version, 10) +
		`","equipment":{"class":"press"},"run":{"time":"PT1M","per":{"quantity":1,"unit":"{piece}"}},"outputs":[{"material":"P","quantity":1,"unit":"{piece}"}]}]}`))
	expect.Must(t, len(faults) == 0, "%v", faults)
	ctx := admission.Unlimited(context.Background())
	expect.Value(methods.Save(ctx, engineer, origin, r, c, input.Preconditions{}))(t)
	expect.Value(methods.Move(ctx, engineer, origin, r, method.Move{Status: method.InReview, Reason: "ready"}, input.Preconditions{}))(t)
	return c.SHA256()
}
