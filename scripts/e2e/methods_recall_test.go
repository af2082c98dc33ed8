package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	production "wavegate/shared/production/method"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// TestRecall_ThatNoMachineConfirms_IsToldOnceByTheTick_WithItsOwnRights simulates half an hour, and another one after a
// machine has reported the version again.
func TestRecall_ThatNoMachineConfirms_IsToldOnceByTheTick_WithItsOwnRights(t *testing.T) {
	b, box := boxed(t)
	b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
	event, err := os.ReadFile(filepath.Join("..", "..", "events", "tick.json"))
	expect.OK(t, err)
	recall := "munich-1/" + id(b.path) + "/1"
	told := func() []map[string]any {
		expect.Value(b.w.Function(operations.Tick).Invoke(t.Context(), event))(t)
		return b.w.Events(t, production.RecallResourceType, recall)
	}
	if events := told(); len(events) != 0 {
		t.Fatalf("told at once: %v", events)
	}
	halfAnHour := func() {
		t.Helper()
		_, err := b.w.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName:                 aws.String(dynamolocal.TableName(dynamo.Progress)),
			Key:                       map[string]types.AttributeValue{"subject": &types.AttributeValueMemberS{Value: "recalls"}, "part": &types.AttributeValueMemberS{Value: recall}},
			UpdateExpression:          aws.String("SET since = :since"),
			ConditionExpression:       aws.String("attribute_exists(since)"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":since": &types.AttributeValueMemberS{Value: time.Now().Add(-production.ConfirmWithin).UTC().Format(time.RFC3339Nano)}},
		})
		expect.OK(t, err)
	}
	halfAnHour()
	for range 2 {
		events := told()
		expect.Must(t, len(events) == 1 && events[0]["eventName"] == production.RecallUnconfirmed, "told %v", events)
		cause, _ := events[0]["cause"].(map[string]any)
		sentence, _ := cause["sentence"].(string)
		expect.That(t, strings.HasSuffix(sentence, "30 minutes after its orders were stopped."), "because %v", cause)
		if events[0]["why"] != cause["sentence"] {
			t.Errorf("the event bus tells %v", events[0]["why"])
		}
	}
	lists := func(who *harness.Caller, path string) (left []int) {
		t.Helper()
		var answer struct{ Recalls []production.Pending }
		who.Get(t, path).Is(t, http.StatusOK).Into(t, &answer)
		for _, r := range answer.Recalls {
			left = append(left, r.Left)
		}
		return left
	}
	owner, rival := b.w.As(t, "olga", "wavegate", auth.PlatformOwner), b.w.As(t, "rita", "rival", auth.OrganizationAdmin)
	for _, want := range [][]int{{2}, {1}, nil} { // it is trouble until it is confirmed
		expect.Equal(t, lists(owner, "/api/ota/overview"), want, "the overview lists")
		expect.Equal(t, lists(b.approver, "/api/organizations/acme/fleet"), want, "to its organization, the fleet lists")
		expect.Equal(t, lists(rival, "/api/organizations/rival/fleet"), nil, "to another one, the fleet lists")
		if want != nil {
			b.author.Put(t, b.version(1)+"/machines/press-"+strconv.Itoa(want[0])+"/confirmation", `{"reason":"gone"}`).Is(t, http.StatusCreated)
			expect.Equal(t, len(told()), 1, "warnings")
		}
	}
	box.Put(t, b.report("press-1"), b.says(1, "running")).Refused(t, problem.VersionWithdrawn)
	expect.Equal(t, b.left(1), "press-1 box-1 running stop", "left:")
	halfAnHour()
	expect.Equal(t, len(told()), 2, "warnings")
	expect.Equal(t, lists(owner, "/api/ota/overview"), []int{1}, "the overview lists")
}

// TestRecall_PeopleCloseIt: a person confirms for a machine without a box, once, and only for a machine that could have it.
func TestRecall_PeopleCloseIt(t *testing.T) {
	b := newBench(t)
	b.release(1, smallContent)
	b.machine("saw-1", "saw")
	confirm := func(by *harness.Caller, machine, body string) harness.Answer {
		return by.Put(t, b.version(1)+"/machines/"+machine+"/confirmation", body)
	}
	confirm(b.author, "press-1", `{"reason":"gone"}`).Refused(t, problem.InvalidStateTransition) // not withdrawn
	b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
	confirm(b.author, "press-1", `{"reason":"","more":1}`).Refused(t, problem.ValidationFailed)
	confirm(b.author, "saw-1", `{"reason":"gone"}`).Refused(t, problem.InvalidStateTransition)
	confirm(b.author, "press-9", `{"reason":"gone"}`).Refused(t, problem.NotFound)
	confirm(b.w.Engineer(t, "rival"), "press-1", `{"reason":"gone"}`).Refused(t, problem.NotFound)
	confirm(b.author, "press-1", `{"reason":"gone"}`).Is(t, http.StatusCreated)
	confirm(b.author, "press-1", `{"reason":"gone"}`).Is(t, http.StatusNoContent)
	confirm(b.approver, "press-1", `{"reason":"gone"}`).Refused(t, problem.InvalidStateTransition)
	expect.Equal(t, b.left(1), "press-2", "left:")
	confirm(b.approver, "press-2", `{"reason":"gone"}`).Is(t, http.StatusCreated)
	expect.Equal(t, b.left(1), "", "left:")
	r, err := b.verified()
	expect.That(t, err == nil && len(r.Findings) == 0, "%v, %v", r.Findings, err)
}

// TestRecall_ClassLost_IsToldAndListed: the machine had the version, whatever its class is now.
func TestRecall_ClassLost_IsToldAndListed(t *testing.T) {
	b := newBench(t)
	b.release(1, smallContent)
	b.author.Put(t, "/api/factories/munich-1/machines/press-1", `{"name":"Press 1","classes":["saw"]}`).Is(t, http.StatusNoContent)
	b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
	expect.Equal(t, b.left(1), "press-1, press-2", "left:")
	poll := string(b.author.Get(t, "/api/factories/munich-1/machines/press-1/methods").Is(t, http.StatusOK).Body)
	expect.That(t, strings.Contains(poll, `"withdrawn":[{"version":1,"orders":"stop"}]`),
		"the machine is told %s", poll)
}

// TestRecall_MachineThatNoStepNames_IsToldToStop: it is on the list, so it has to hear of the recall, and its box stays.
func TestRecall_MachineThatNoStepNames_IsToldToStop(t *testing.T) {
	t.Parallel()
	b, box := boxed(t)
	for _, code := range []string{"saw-1", "saw-2"} {
		b.machine(code, "saw")
		b.author.Put(t, "/api/factories/munich-1/machines/"+code, `{"name":"Saw","edgeId":"box-1"}`).Is(t, http.StatusNoContent)
	}
	box.Put(t, b.report("saw-1"), strings.Replace(b.says(1, "running"), b.hash(1), digest("b"), 1)).Refused(t, problem.ContentChanged)
	leaves := b.w.Owner(t).Put(t, "/api/edges/box-1", registration("", `,"factoryId":null`)).Refused(t, problem.Conflict).Detail
	expect.That(t, strings.Contains(leaves, "saw-1 has version 1"), "the box stays because %s", leaves)
	b.move(b.author, 1, "withdrawn", `,"orders":"finish"`).Is(t, http.StatusOK)
	box.Put(t, b.report("saw-2"), b.says(1, "running")).Refused(t, problem.VersionWithdrawn)
	b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
	for _, code := range []string{"press-1", "press-2", "saw-1", "saw-2"} {
		poll := string(b.author.Get(t, "/api/factories/munich-1/machines/"+code+"/methods").Is(t, http.StatusOK).Body)
		expect.That(t, strings.Contains(poll, `"withdrawn":[{"version":1,"orders":"stop"}]`), "%s is told %s", code, poll)
	}
}
