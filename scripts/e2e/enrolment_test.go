package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

const enrolments = "/api/edge-enrolments"

// enrolmentOf is the body that makes an enrolment of boxes on gateway-x/stable, with further fields.
func enrolmentOf(ids, more string) string {
	return fmt.Sprintf(`{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","edgeIds":[%s],"expiresAt":%q%s}`,
		ids, time.Now().Add(time.Hour).UTC().Format(time.RFC3339), more)
}

// enrols makes an enrolment of boxes on gateway-x/stable, and returns its path and a caller with its code.
func enrols(t *testing.T, w *harness.World, by *harness.Caller, ids, more string) (path string, code *harness.Caller) {
	t.Helper()
	var made enrolment.Made
	by.Post(t, enrolments, enrolmentOf(ids, more)).Is(t, http.StatusCreated).Into(t, &made)
	return enrolments + "/" + made.ID, &harness.Caller{URL: w.Target.URL, Bearer: "Bearer wavegate-enrol:" + made.Code}
}

// redemption is the body that a box sends with its own token's hash.
func redemption(id string) (token, body string) {
	text, made := boxtoken.New(boxtoken.Box, id)
	return text, fmt.Sprintf(`{"edgeId":%q,"tokenSha256":%q}`, id, made.SHA256)
}

const redeems = enrolments + "/redemptions"

// TestEnrolment_ABoxOfTheList_PollsWithItsOwnToken, in the factory of the enrolment. A second box with its id is refused.
func TestEnrolment_ABoxOfTheList_PollsWithItsOwnToken(t *testing.T) {
	w := harness.New(t)
	owner, admin := w.Owner(t), w.Admin(t, "acme")
	owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	factory(t, w, "munich-1", "acme")
	path, code := enrols(t, w, admin, `"box-1","box-2"`, `,"factoryId":"munich-1"`)
	token, body := redemption("box-1")
	for range 2 { // the first answer may be lost
		code.Post(t, redeems, body).Is(t, http.StatusCreated)
	}
	b := w.With("Bearer", token)
	b.Get(t, manifest).Is(t, http.StatusOK)
	owner.Get(t, boxPath).Has(t, fmt.Sprintf(`{"factoryId":"munich-1","enrolmentId":%q}`, id(path)))
	_, clone := redemption("box-1")
	code.Post(t, redeems, clone).Refused(t, problem.EdgeEnrolled)
	b.Get(t, manifest).Is(t, http.StatusOK)
	admin.Do(t, http.MethodDelete, path, "").Is(t, http.StatusNoContent)
	_, late := redemption("box-2")
	code.Post(t, redeems, late).Refused(t, problem.Unauthenticated)
	b.Get(t, manifest).Is(t, http.StatusOK)
	factory(t, w, "oslo-1", "rival")
	admin.Post(t, enrolments, enrolmentOf(`"box-9"`, `,"factoryId":"oslo-1"`)).Refused(t, problem.FactoryNotInOrganization)
}

// TestEnrolment_TheCode_DoesNothingElse: only the redemption accepts it.
func TestEnrolment_TheCode_DoesNothingElse(t *testing.T) {
	w := harness.New(t)
	_, code := enrols(t, w, w.Owner(t), `"box-1"`, "")
	for _, op := range table.All {
		if op.ID == "redeem-edge-enrolment" || len(op.Roles) == 0 {
			continue
		}
		c := samples.Of(op.ID).Call(samples.Fixed(), samples.Case{})
		expect.Equal(t, code.Do(t, c.Method, c.Path, c.Body).Status, http.StatusForbidden, "%s answered", op.ID)
	}
}

// TestEnrolment_ABoxThatWaits_IsAcceptedWithTheHashThatWasSeen, and with no other.
func TestEnrolment_ABoxThatWaits_IsAcceptedWithTheHashThatWasSeen(t *testing.T) {
	w := harness.New(t, harness.WithBell())
	owner, installer := w.Owner(t), w.As(t, "ines", "acme", auth.FleetInstaller)
	owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	path, code := enrols(t, w, installer, `"box-9"`, "")
	token, body := redemption("box-1")
	code.Post(t, redeems, body).Is(t, http.StatusAccepted)
	_, swapped := redemption("box-1")
	installer.Post(t, path+"/accept", `{"items":[`+swapped+`]}`).Refused(t, problem.Conflict)
	installer.Post(t, path+"/accept", `{"items":[`+body+`]}`).Is(t, http.StatusNoContent)
	code.Post(t, redeems, body).Is(t, http.StatusCreated)
	w.With("Bearer", token).Get(t, manifest).Is(t, http.StatusOK)
	_, other := redemption("box-2")
	w.As(t, "rita", "rival", auth.OrganizationAdmin).Post(t, path+"/accept", `{"items":[`+other+`]}`).Refused(t, problem.NotFound)
}

// TestAdmin_WhoNamesAnotherOrganization_FindsNothing: as if it did not exist.
func TestAdmin_WhoNamesAnotherOrganization_FindsNothing(t *testing.T) {
	w := harness.New(t)
	admin := w.As(t, "rita", "rival", auth.OrganizationAdmin)
	_, body := hashOf(boxtoken.Gateway, "acme")
	admin.Put(t, boxPath, box).Refused(t, problem.NotFound)
	admin.Post(t, "/api/edges", `{"edges":[{"edgeId":"box-1",`+box[1:]+`]}`).Refused(t, problem.NotFound)
	admin.Put(t, "/api/organizations/acme/gateway-token", body).Refused(t, problem.NotFound)
	admin.Post(t, enrolments, enrolmentOf(`"box-1"`, "")).Refused(t, problem.NotFound)
}

// TestEnrolment_ABoxThatMayListen_IsCalled: at its address from before it was retired or reset.
func TestEnrolment_ABoxThatMayListen_IsCalled(t *testing.T) {
	w := harness.New(t, harness.WithBell())
	owner, admin := w.Owner(t), w.Admin(t, "acme")
	owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	for _, id := range []string{"box-1", "box-2"} {
		owner.Put(t, "/api/edges/"+id, box).Is(t, http.StatusCreated)
		listens(t, w, id, "0.9.0")
		owner.Do(t, http.MethodDelete, "/api/edges/"+id, "").Is(t, http.StatusNoContent)
	}
	// A call lasts for some time, and the boxes were called when they were retired.
	if _, err := w.DB.DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: new(dynamolocal.TableName(dynamo.Bells)), Key: map[string]types.AttributeValue{
			"edgeType": &types.AttributeValueMemberS{Value: "gateway-x"}, "channel": &types.AttributeValueMemberS{Value: "stable"},
		}}); err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(w.Items(t, dynamo.Bells))
	rings := func(what string) {
		t.Helper()
		now := fmt.Sprint(w.Items(t, dynamo.Bells))
		expect.Equal(t, now == before, false, "%s calls nobody:", what)
		before = now
	}
	path, code := enrols(t, w, admin, `"box-1","box-3"`, "")
	token, body := redemption("box-1")
	code.Post(t, redeems, body).Is(t, http.StatusCreated)
	rings("a redemption")
	b := w.With("Bearer", token)
	b.Get(t, manifest).Is(t, http.StatusOK)
	_, waits := redemption("box-2")
	code.Post(t, redeems, waits).Is(t, http.StatusAccepted)
	admin.Post(t, path+"/accept", `{"items":[`+waits+`]}`).Is(t, http.StatusNoContent)
	rings("an acceptance")
	_, body = redemption("box-3")
	code.Post(t, redeems, body).Is(t, http.StatusCreated)
	admin.Do(t, http.MethodDelete, path+"/redemptions/box-3", "").Is(t, http.StatusNoContent)
	rings("a reset")
	admin.Do(t, http.MethodDelete, path+"/redemptions/box-1", "").Is(t, http.StatusNoContent)
	b.Get(t, manifest).Refused(t, problem.NotFound)
	next, body := redemption("box-1")
	code.Post(t, redeems, body).Is(t, http.StatusCreated)
	w.With("Bearer", next).Get(t, manifest).Is(t, http.StatusOK)
}

// TestEnrolment_ABoxThatIsRegisteredWhileItWaits_IsNotAccepted.
func TestEnrolment_ABoxThatIsRegisteredWhileItWaits_IsNotAccepted(t *testing.T) {
	w := harness.New(t)
	admin := w.Admin(t, "acme")
	path, code := enrols(t, w, admin, `"box-9"`, "")
	_, body := redemption("box-1")
	code.Post(t, redeems, body).Is(t, http.StatusAccepted)
	admin.Put(t, boxPath, box).Is(t, http.StatusCreated)
	admin.Post(t, path+"/accept", `{"items":[`+body+`]}`).Refused(t, problem.EdgeEnrolled)
}

// TestEnrolment_TheOldestOfAThousandThatWait_FallsOut. They are written directly to the store, because the limit of
// the service would take two minutes.
func TestEnrolment_TheOldestOfAThousandThatWait_FallsOut(t *testing.T) {
	w := harness.New(t)
	admin := w.Admin(t, "acme")
	path, code := enrols(t, w, admin, `"box-1"`, "")
	id := strings.TrimPrefix(path, enrolments+"/")
	hash := strings.Repeat("c", 64)
	put := func(item map[string]any) {
		item["id"], item["expires"] = id, time.Now().Add(time.Hour).Unix()
		table := dynamolocal.TableName(dynamo.Enrolments)
		expect.Value(w.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: expect.Value(dynamo.Encode(item))(t)}))(t)
	}
	for i := range enrolment.MostBoxes {
		edgeID := fmt.Sprintf("flood-%04d", i)
		put(map[string]any{
			"part": "waiting/" + edgeID + "/" + hash, "edgeId": edgeID, "tokenSha256": hash,
			"since": time.Now().Add(time.Duration(i-2*enrolment.MostBoxes) * time.Second),
		})
	}
	put(map[string]any{"part": "waits", "revision": enrolment.MostBoxes, "boxes": enrolment.MostBoxes})
	_, body := redemption("late")
	code.Post(t, redeems, body).Is(t, http.StatusAccepted)
	var shown struct{ Waiting []enrolment.Waiting }
	admin.Get(t, path).Is(t, http.StatusOK).Into(t, &shown)
	if n := len(shown.Waiting); n != enrolment.MostBoxes || shown.Waiting[0].EdgeID != "late" {
		t.Fatalf("%d wait, the newest is %+v", n, shown.Waiting[0])
	}
	for _, one := range shown.Waiting {
		expect.That(t, one.EdgeID != "flood-0000", "the oldest still waits")
	}
}
