package boxauth_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// reading counts the reads of a store.
type reading struct {
	dynamo.API
	reads int
}

func (r *reading) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	r.reads++
	return r.API.GetItem(ctx, in, o...)
}

// A foreigner is box-1, whose token has another form.
type foreigner struct {
	*testing.T
	store *reading
	now   time.Time
	boxauth.Foreign
	events int
	fails  error
}

const strong, weak = "0123456789abcdef0123456789abcdef", "secret"

func newForeigner(t *testing.T, text string, marked bool) *foreigner {
	t.Helper()
	t.Setenv(string(setting.ForeignTokens), "true")
	f := &foreigner{T: t, store: &reading{API: dynamotest.Embedded(t)}, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	db := dynamo.Open(f.store, func() time.Time { return f.now })
	own, _ := boxtoken.Foreign("box-1", text)
	known := report.Row{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", Revision: 1}
	known.Tokens.Current = own.SHA256
	if marked {
		known.Tokens.Weak = own.SHA256
	}
	expect.OK(t, report.NewStore(db, 1).Save(admission.Unlimited(t.Context()), report.Row{}, known))
	f.Foreign = *boxauth.ReadForeign(setting.NewValues(setting.ForeignTokens), boxauth.NewTokens(db, ""), func(_ context.Context, from audit.Origin, id string) error {
		f.events++
		expect.Equal(t, id+" "+from.SourceIP+" "+from.RequestID, "box-1 192.0.2.9 r-1", "the event is about")
		return f.fails
	})
	f.store.reads = 0
	return f
}

// try calls for a box, and returns whether the token is good, and how many reads that took.
func (f *foreigner) try(id, text string) (good bool, reads int) {
	f.Helper()
	before := f.store.reads
	shown, ok := boxtoken.Foreign(id, text)
	expect.Must(f, ok, "%q is no token", text)
	_, caller, err := f.Enter(f.Context(), "192.0.2.9", "r-1", shown)
	expect.That(f, err == nil || problem.Has(err, problem.NotFound), "%v", err)
	return caller.UserID == id, f.store.reads - before
}

// TestForeign_TenWrongTokens_EndTheReads for an hour, but not for the box's own token; there is one event.
func TestForeign_TenWrongTokens_EndTheReads(t *testing.T) {
	f := newForeigner(t, strong, false)
	check := func(text string, good bool, reads int) {
		t.Helper()
		if is, took := f.try("box-1", text); is != good || took != reads {
			t.Errorf("%q is %t by %d reads, want %t by %d", text, is, took, good, reads)
		}
	}
	for range 10 {
		check(strings.Repeat("0", 32), false, 1)
	}
	expect.Equal(t, f.events, 1, "events")
	for range 100 {
		check(strings.Repeat("1", 32), false, 0)
	}
	check(strong, true, 1)
	f.now = f.now.Add(59 * time.Minute)
	check(strings.Repeat("1", 32), false, 0)
	f.now = f.now.Add(time.Minute)
	check(strings.Repeat("1", 32), false, 1)
	expect.Equal(t, f.events, 1, "events")
}

// TestForeign_NineWrongTokensAnHour_GoOnForever.
func TestForeign_NineWrongTokensAnHour_GoOnForever(t *testing.T) {
	f := newForeigner(t, strong, false)
	for i := range 90 {
		if i%9 == 0 {
			f.now = f.now.Add(time.Hour)
		}
		_, reads := f.try("box-1", strings.Repeat("0", 32))
		expect.Equal(t, reads, 1, "reads")
	}
	expect.Equal(t, f.events, 0, "events")
}

// TestForeign_AnEventThatIsNotWritten_IsTriedAgain.
func TestForeign_AnEventThatIsNotWritten_IsTriedAgain(t *testing.T) {
	f := newForeigner(t, strong, false)
	f.fails = errors.New("no")
	for range 12 {
		f.try("box-1", strings.Repeat("0", 32))
	}
	expect.Equal(t, f.events, 3, "tries")
}

// TestForeign_AWeakToken_NeedsAMark, and cannot be guessed: after ten wrong ones, the right one is refused, too.
func TestForeign_AWeakToken_NeedsAMark(t *testing.T) {
	f := newForeigner(t, weak, false)
	good, _ := f.try("box-1", weak)
	expect.That(t, !good, "it is good without a mark")
	f = newForeigner(t, weak, true)
	good, _ = f.try("box-1", weak)
	expect.That(t, good, "it is refused")
	for range 10 {
		f.try("box-1", "secrets")
	}
	good, reads := f.try("box-1", weak)
	expect.That(t, !good && reads == 0, "it is %t, by %d reads", good, reads)
}

// TestForeign_AGatewaysToken_IsThatOfTheBoxesOrganization, and is tried for apart from the box's own.
func TestForeign_AGatewaysToken_IsThatOfTheBoxesOrganization(t *testing.T) {
	f := newForeigner(t, strong, false)
	ctx := admission.Unlimited(t.Context())
	all, _ := boxtoken.ForeignGateway("box-1", strong+"0")
	owner := auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}
	expect.OK(t, boxauth.NewGateways(dynamo.Open(f.store, func() time.Time { return f.now })).SetToken(ctx, audit.Origin{}, owner, "acme", all.SHA256, input.Preconditions{}))
	by := func(text string) auth.Principal {
		t.Helper()
		shown, _ := boxtoken.ForeignGateway("box-1", text)
		_, caller, err := f.Enter(ctx, "192.0.2.9", "r-1", shown)
		expect.OK(t, err)
		return caller
	}
	expect.Equal(t, by(strong+"0").UserID, "acme", "the caller is")
	for range 12 {
		expect.Equal(t, by(strong).UserID, "", "with the box's own token, the caller is")
	}
	expect.Equal(t, f.events, 1, "events")
	expect.Equal(t, by(strong+"0").UserID, "acme", "afterwards, the caller is")
	good, reads := f.try("box-1", strong)
	expect.That(t, good && reads == 1, "the box's own token is %t, by %d reads", good, reads)
}

// TestForeign_Strangers_CostAReadAndNoMemory: there is no such box, or it has no token.
func TestForeign_Strangers_CostAReadAndNoMemory(t *testing.T) {
	f := newForeigner(t, strong, false)
	for range 100 {
		good, reads := f.try("box-2", strong)
		expect.That(t, !good && reads == 1, "it is %t, by %d reads", good, reads)
	}
	expect.Equal(t, f.events, 0, "events")
}
