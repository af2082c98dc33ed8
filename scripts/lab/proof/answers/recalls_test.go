package answers_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/infra/recovery/ledger"
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// warned makes the warnings of the service: of a rollout that waits for an approval, and of a recall that no machine
// confirmed.
func warned(t *testing.T) ledger.Books {
	t.Helper()
	client := dynamotest.Embedded(t)
	now := time.Now()
	db := dynamo.Open(client, func() time.Time { now = now.Add(time.Millisecond); return now })
	ctx := admission.Unlimited(t.Context())
	from := func(request string) audit.Origin {
		return audit.Origin{Actor: audit.Actor{Issuer: issuer, UserID: "olga"}, RequestID: request}
	}
	for channel, version := range map[string]string{"stable": "1.0.0", "canary": "1.1.0"} {
		p := release.Publication{EdgeType: "gateway-x", Channel: channel, CurrentVersion: version, SHA256: digest, ArtifactURL: "https://artifacts.example/" + version}
		expect.Value(publication.NewStore(db).Publish(ctx, from(channel), p, input.Preconditions{}))(t)
	}
	owner := auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}
	assignment := edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme"}
	expect.Value(edge.NewRegistry(db, 1).For(owner).Put(ctx, from("box"), "box-0001", assignment, input.Preconditions{}))(t)
	policy := guard.Default()
	policy.Promote.Soak = guard.Soak{At1: "PT0S", At10: "PT0S", At50: "PT0S", At100: "PT0S"}
	policy.Approvals.Before = []int{10}
	plan := rollout.Plan{EdgeType: "gateway-x", Channel: "stable", TargetVersion: "1.1.0", Policy: &policy}
	expect.Value(rollout.NewStore(db).Start(ctx, from("start"), plan, idempotency.Claim{}))(t)
	counts := census.NewStore(db, census.Settings{Shards: 1, PollInterval: time.Minute, GuardInterval: time.Minute},
		func(context.Context, string) (time.Time, error) { return now, nil })
	for range 3 {
		now = now.Add(time.Hour)
		expect.Value(counts.Tick(ctx, census.GuardOrigin("tick")))(t)
	}
	recallOn(t, db, from)
	now = now.Add(method.ConfirmWithin)
	if told, err := method.NewStore(db).TellUnconfirmed(ctx, from("told")); err != nil || told != 1 {
		t.Fatalf("told of %d recalls, %v", told, err)
	}
	books := expect.Value(ledger.Read(t.Context(), client, dynamolocal.TableName))(t)
	return books
}

func TestAudit_WarningsOfTheService_AreKnown(t *testing.T) {
	books := warned(t)
	var told []string
	for _, e := range books[dynamo.Audit] {
		told = append(told, e["eventName"].(string))
	}
	for _, want := range []string{census.ApprovalWaiting, method.RecallUnconfirmed} {
		expect.Must(t, slices.Contains(told, want), "nobody was told %s: %v", want, told)
	}
	for _, wrong := range books.Audit() {
		t.Error(wrong)
	}
}

// TestAudit_WarningsThatCannotBe_AreFound: a table of another moment, or a table without its items.
func TestAudit_WarningsThatCannotBe_AreFound(t *testing.T) {
	honest := warned(t)
	without := func(table dynamo.TableID, remove func(ledger.Item) bool) ledger.Books {
		books := ledger.Books{}
		for id, items := range honest {
			books[id] = items
		}
		books[table] = slices.DeleteFunc(slices.Clone(books[table]), remove)
		return books
	}
	all := func(ledger.Item) bool { return true }
	for want, books := range map[string]ledger.Books{
		"1 events of a thing that is not stored":     without("warnings", all),
		"does not lead to the method":                without(dynamo.MethodPlaces, all),
		"0 events, but revision 1 is stored":         without(dynamo.Audit, func(e ledger.Item) bool { return e["eventName"] == census.ApprovalWaiting }),
		"which is not stored":                        without(dynamo.MethodVersions, all),
		"munich-1#machine#m-1 leads to the method 0": without(dynamo.Methods, all),
	} {
		found := strings.Join(books.Audit(), "\n")
		expect.That(t, strings.Contains(found, want), "%q is not found: %s", want, found)
	}
}

// TestAudit_WarningsOfARecall_AreOneForEachTime: machines were left, all confirmed, and one reported the version again.
func TestAudit_WarningsOfARecall_AreOneForEachTime(t *testing.T) {
	honest := warned(t)
	for since, want := range map[string]bool{"": true, "2026-03-01T12:00:00Z": false} {
		books := maps.Clone(honest)
		for _, e := range honest[dynamo.Audit] {
			if e["eventName"] != method.RecallUnconfirmed {
				continue
			}
			second, after := maps.Clone(e), maps.Clone(ledger.Object(e, "after"))
			if second["after"] = after; since != "" {
				after["since"] = since
			}
			second["eventId"] = "another"
			second["position"] = strings.Replace(e["position"].(string), e["eventId"].(string), "another", 1)
			books[dynamo.Audit] = append(slices.Clone(books[dynamo.Audit]), second)
		}
		found := strings.Join(books.Audit(), "\n")
		expect.That(t, strings.Contains(found, "two warnings since") == want, "since %q: %s", since, found)
		expect.That(t, want || found == "", "since %q: %s", since, found)
	}
}

func TestAudit_EnrolmentThatTheStoreDeleted_IsNoFinding(t *testing.T) {
	for age, lost := range map[time.Duration]bool{89 * 24 * time.Hour: true, 91 * 24 * time.Hour: false} {
		event := ledger.Item{
			"stream": "platform", "eventName": "EnrolmentCreated", "resource": ledger.Item{"type": "enrolment", "id": "e-1", "revision": 1.0},
			"after": ledger.Item{"expiresAt": time.Now().Add(-age).Format(time.RFC3339)},
		}
		found := strings.Join(ledger.Books{dynamo.Audit: {event}}.Audit(), "\n")
		expect.That(t, strings.Contains(found, "a thing that is not stored") == lost, "expired %s ago: %s", age, found)
	}
}

// recallOn releases a version on a machine and stops its orders.
func recallOn(t *testing.T, db *dynamo.DB, from func(string) audit.Origin) {
	t.Helper()
	ctx := admission.Unlimited(t.Context())
	who, none := signer("eric"), input.Preconditions{}
	if _, err := factory.NewStore(db).Put(ctx, from("factory"), "munich-1", factory.Registration{OrganizationID: "acme", Name: "Munich"}, none); err != nil {
		t.Fatal(err)
	}
	if _, err := machine.NewStore(db).Put(ctx, who, from("machine"), "munich-1", "m-1", machine.Registration{Name: "Mill"}, none); err != nil {
		t.Fatal(err)
	}
	methods := method.NewStore(db)
	id, err := methods.Create(ctx, who, from("create"), "munich-1", method.Creation{ProductID: "7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11", Name: "Milling"}, idempotency.Claim{})
	expect.OK(t, err)
	parsed := parsedMilling(t)
	ref := method.Ref{FactoryID: "munich-1", MethodID: id, Version: 1}
	expect.Value(methods.Save(ctx, who, from("save"), ref, parsed, none))(t)
	for _, m := range []struct {
		by string
		method.Move
	}{
		{"eric", method.Move{Status: method.InReview}},
		{"anna", method.Move{Status: method.Released, ContentSHA256: parsed.SHA256()}},
		{"anna", method.Move{Status: method.Withdrawn, Orders: method.Stop}},
	} {
		m.Reason = "r"
		by := from(string(m.Status))
		by.Actor.UserID = m.by
		expect.Value(methods.Move(ctx, signer(m.by), by, ref, m.Move, none))(t)
	}
}
