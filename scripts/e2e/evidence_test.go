package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// everyStage is a rollout to all boxes of some that are registered; the guard judges it.
func everyStage(t *testing.T, w *harness.World, boxes []string) (rollout string) {
	t.Helper()
	owner := w.Owner(t)
	for _, box := range boxes {
		owner.Put(t, "/api/edges/"+box, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	}
	rollout = judgedRollout(t, w, quickly)
	for _, percent := range []string{"10", "50", "100"} {
		owner.Patch(t, rollout, `{"staged_percent":`+percent+`}`).Is(t, http.StatusNoContent)
	}
	return rollout
}

// failsAtBoot makes a box poll and report that it could not boot the release.
func failsAtBoot(t *testing.T, w *harness.World, box string) {
	t.Helper()
	w.Box(t, box).Get(t, manifestPath(box)+"?installed=1.0.0").Is(t, http.StatusOK)
	w.Box(t, box).Put(t, "/api/edges/"+box+"/update/report", `{"version":"1.1.0","attempt":1,"outcome":"failed","code":"boot"}`).Is(t, http.StatusOK)
}

// verdict lets the guard look, and returns the last event of the rollout.
func verdict(t *testing.T, w *harness.World, rollout string) map[string]any {
	t.Helper()
	time.Sleep(3 * time.Second) // the boxes could try again
	expect.OK(t, w.RunTask(t.Context(), operations.Tick))
	events := w.Events(t, "rollout", id(rollout))
	return events[len(events)-1]
}

// TestEvidence_AFailedBoxThatIsMovedOrRetired_StaysBad: nobody removes evidence by changing a registration.
func TestEvidence_AFailedBoxThatIsMovedOrRetired_StaysBad(t *testing.T) {
	t.Parallel()
	const moved = `{"edgeType":"gateway-x","channel":"canary","organizationId":"acme"}`
	for name, remove := range map[string]func(*testing.T, *harness.World, string){
		"moved": func(t *testing.T, w *harness.World, box string) {
			w.Owner(t).Put(t, "/api/edges/"+box, moved).Is(t, http.StatusNoContent)
		},
		"moved in a batch": func(t *testing.T, w *harness.World, box string) {
			w.Owner(t).Post(t, "/api/edges", boxes(boxSaid(box, "gateway-x", "canary"))).Is(t, http.StatusOK)
		},
		"retired": func(t *testing.T, w *harness.World, box string) {
			w.Owner(t).Do(t, http.MethodDelete, "/api/edges/"+box, "").Is(t, http.StatusNoContent)
		},
		"moved there and back": func(t *testing.T, w *harness.World, box string) {
			w.Owner(t).Put(t, "/api/edges/"+box, moved).Is(t, http.StatusNoContent)
			w.Box(t, box).Get(t, manifestPath(box)+"?installed=1.0.0").Is(t, http.StatusOK)
			w.Owner(t).Put(t, "/api/edges/"+box, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusNoContent)
		},
		"pinned to another version": func(t *testing.T, w *harness.World, box string) {
			w.Owner(t).Put(t, "/api/ota/release-channels/gateway-x/lab", `{"currentVersion":"1.0.5","artifactUrl":"https://artifacts.example.com/1.0.5","sha256":"`+digest("5")+`"}`)
			w.Owner(t).Put(t, "/api/edges/"+box, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","pin":{"version":"1.0.5","reason":"it failed"}}`).
				Is(t, http.StatusNoContent)
			w.Box(t, box).Get(t, manifestPath(box)+"?installed=1.0.0").Is(t, http.StatusOK)
		},
		"retired and registered again": func(t *testing.T, w *harness.World, box string) {
			w.Owner(t).Do(t, http.MethodDelete, "/api/edges/"+box, "").Is(t, http.StatusNoContent)
			w.Owner(t).Put(t, "/api/edges/"+box, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := harness.New(t, lookEachSecond)
			boxes := []string{"box-1", "box-2"}
			rollout := everyStage(t, w, boxes)
			for _, box := range boxes {
				failsAtBoot(t, w, box)
				remove(t, w, box)
			}
			last := verdict(t, w, rollout)
			if cause, _ := last["cause"].(map[string]any); last["eventName"] != "RolloutHalted" || cause["reason"] != "TOO_MANY_BAD" {
				t.Errorf("the trail ends with %v", last)
			}
		})
	}
}

// TestEvidence_MadeUpBoxes_DoNotHaltTheRolloutOfOthers: 10 boxes that are registered after the start say that they fail.
func TestEvidence_MadeUpBoxes_DoNotHaltTheRolloutOfOthers(t *testing.T) {
	t.Parallel()
	w := harness.New(t, lookEachSecond)
	rollout := everyStage(t, w, []string{"box-1", "box-2"})
	for _, box := range []string{"box-1", "box-2"} {
		isOld(t, w, box)
		w.Box(t, box).Get(t, manifestPath(box)+"?installed=1.0.0").Is(t, http.StatusOK)
		w.Box(t, box).Get(t, manifestPath(box)+"?installed=1.1.0").Is(t, http.StatusOK)
	}
	time.Sleep(time.Second) // dates have whole seconds
	for n := range 10 {
		box := fmt.Sprint("made-up-", n)
		w.Owner(t).Put(t, "/api/edges/"+box, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
		failsAtBoot(t, w, box)
	}
	last := verdict(t, w, rollout)
	expect.That(t, last["eventName"] != "RolloutHalted", "the trail ends with %v", last)
	var p struct {
		Young    int
		NewFleet bool
		Failures map[string]int
	}
	w.Owner(t).Get(t, rollout+"/progress").Is(t, http.StatusOK).Into(t, &p)
	expect.That(t, p.Young == 10 && !p.NewFleet && p.Failures["boot"] == 10, "the progress says %+v", p)
}

// TestEvidence_MadeUpHealthyBoxes_DoNotHideDeadOnes: 15 boxes that are registered after the start are healthy, and the
// three that the release reached go silent.
func TestEvidence_MadeUpHealthyBoxes_DoNotHideDeadOnes(t *testing.T) {
	t.Parallel()
	w := harness.New(t, lookEachSecond)
	owner, rollout := w.Owner(t), judgedRollout(t, w, quickly)
	told, others := inStage(1, 3), inStage(100, 3)
	polls := func(installed string, boxes ...string) {
		t.Helper()
		for _, box := range boxes {
			w.Box(t, box).Get(t, manifestPath(box)+"?installed="+installed).Is(t, http.StatusOK)
		}
	}
	for _, box := range append(slices.Clone(told), others...) {
		owner.Put(t, "/api/edges/"+box, `{"edgeType":"gateway-x","channel":"stable","organizationId":"rival"}`).Is(t, http.StatusCreated)
		isOld(t, w, box)
		polls("1.0.0", box)
	}
	time.Sleep(1100 * time.Millisecond) // dates have whole seconds
	polls("1.1.0", told...)
	time.Sleep(1100 * time.Millisecond)
	madeUp := inStage(1, 18)[3:]
	for _, box := range madeUp {
		owner.Put(t, "/api/edges/"+box, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
		polls("1.0.0", box)
	}
	time.Sleep(2 * time.Second)
	var last map[string]any
	// On a busy machine, the others may be silent for a second, too, when the guard looks.
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		polls("1.1.0", madeUp...)
		polls("1.0.0", others...)
		expect.OK(t, w.RunTask(t.Context(), operations.Tick))
		events := w.Events(t, "rollout", id(rollout))
		if last = events[len(events)-1]; last["eventName"] == "RolloutHalted" {
			break
		}
	}
	if cause, _ := last["cause"].(map[string]any); last["eventName"] != "RolloutHalted" || !strings.Contains(fmt.Sprint(cause["reasons"]), "FEW_BAD") {
		t.Errorf("the trail ends with %v; the progress is %s", last, owner.Get(t, rollout+"/progress").Body)
	}
}

// inStage are the first boxes that a stage of the rollout is the first to reach.
func inStage(percent, n int) (boxes []string) {
	for i := 0; len(boxes) < n; i++ {
		if box := fmt.Sprintf("box-%04d", i); cohort.FirstStage("gateway-x", "1.1.0", box) == percent {
			boxes = append(boxes, box)
		}
	}
	return boxes
}

// TestEvidence_RestlessBoxes_AreShown_AndDoNotCount: one is cloned, so that two boards name their versions in turns, and
// two poll without a pause, one of them by DDI.
func TestEvidence_RestlessBoxes_AreShown_AndDoNotCount(t *testing.T) {
	t.Parallel()
	w := harness.New(t, lookEachSecond)
	owner, rollout := w.Owner(t), everyStage(t, w, []string{"cloned", "loops", "calm", "ddi"})
	w.Box(t, "cloned").Put(t, "/api/edges/cloned/attributes", `{"attributes":{"hardwareRevision":"C"}}`).Is(t, http.StatusNoContent)
	for box, polls := range map[string][]string{
		"cloned": {"1.0.0", "1.1.0", "1.0.0", "1.1.0", "1.0.0"}, "loops": slices.Repeat([]string{"1.0.0"}, 62), "calm": {"1.0.0", "1.1.0"},
	} {
		for _, installed := range polls {
			w.Box(t, box).Get(t, manifestPath(box)+"?installed="+installed).Is(t, http.StatusOK)
		}
	}
	for range 62 {
		base(t, w.Box(t, "ddi"), "ddi")
	}
	last := verdict(t, w, rollout)
	expect.That(t, last["eventName"] != "RolloutHalted", "the trail ends with %v", last)
	for path, want := range map[string]string{
		rollout + "/progress": `"restless":3`, rollout + "/edges?state=reverted": `"restless":{`, "/api/edges/loops/update/why": `"polls":true`, "/api/edges/ddi/update/why": `"polls":true`,
		rollout + "/edges?state=silent": `"restless":{`, "/api/edges?edgeType=gateway-x&channel=stable": `"restless":{`, "/api/edges/cloned": `"restless":{`,
		"/api/edges/cloned/update/why": `"attributes":{"hardwareRevision":"C"}`,
	} {
		text := string(owner.Get(t, path).Is(t, http.StatusOK).Body)
		expect.That(t, strings.Contains(text, want), "%s does not say %s: %s", path, want, text)
	}
}

// isOld makes a box look as if it had been registered a year ago.
func isOld(t *testing.T, w *harness.World, box string) {
	t.Helper()
	table := dynamolocal.TableName(dynamo.Reports)
	expect.Value(w.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: &table, Key: map[string]types.AttributeValue{"edgeId": &types.AttributeValueMemberS{Value: box}},
		UpdateExpression:          new("SET registeredAt = :then"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":then": &types.AttributeValueMemberS{Value: timestamp.Text(time.Now().AddDate(-1, 0, 0))}},
	}))(t)
}

// TestFrequent_ABoxThatDoesNotWait_IsNamedAndPriced_AndCounts for the guard as any other. Three boxes are
// suspected since an hour. One of them is calm, and comes through the gateway of another.
func TestFrequent_ABoxThatDoesNotWait_IsNamedAndPriced_AndCounts(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	for _, box := range []string{"loops", "calm", "ddi"} {
		owner.Put(t, "/api/edges/"+box, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	}
	rollout := judgedRollout(t, w, "{}")
	for _, percent := range []string{"10", "50", "100"} {
		owner.Patch(t, rollout, `{"staged_percent":`+percent+`}`).Is(t, http.StatusNoContent)
	}
	gateway := client(t, w, "GatewayToken", gatewayToken)
	for _, box := range []string{"ddi", "calm"} {
		base(t, gateway, box)
		gateway.Put(t, ddiPath("acme", box)+"/configData", `{"data":{"installed":"1.1.0"}}`).Is(t, http.StatusOK)
		base(t, gateway, box)
	}
	w.Box(t, "loops").Get(t, manifestPath("loops")+"?installed=1.1.0").Is(t, http.StatusOK)
	for _, box := range []string{"loops", "ddi", "calm"} {
		isSuspected(t, w, box)
	}
	for range 42 {
		w.Box(t, "loops").Get(t, manifestPath("loops")+"?installed=1.1.0").Is(t, http.StatusOK)
		base(t, gateway, "ddi")
	}
	base(t, gateway, "calm")
	expect.OK(t, w.RunTask(t.Context(), operations.Tick))
	for path, want := range map[string]string{
		rollout + "/progress?fresh=true": `"frequent":2`, "/api/ota/release-channels/gateway-x/stable/progress": `"frequent":2`, "/api/ota/overview": `"frequent":2`,
		"/api/edges/loops/update/why": " s, and was told to wait 60 s or longer: at the API, ", "/api/edges/ddi/update/why": `"dollarsPerMonth":`,
		"/api/edges/loops": `"frequent":{`, "/api/edges?state=frequent&limit=1": `"edgeId":"ddi"`,
	} {
		text := string(owner.Get(t, path).Is(t, http.StatusOK).Body)
		expect.That(t, strings.Contains(text, want), "%s does not say %s: %s", path, want, text)
	}
	for _, path := range []string{"/api/edges/calm", "/api/edges/calm/update/why", "/api/edges?state=trouble"} {
		text := string(owner.Get(t, path).Is(t, http.StatusOK).Body)
		expect.That(t, !strings.Contains(text, "frequent"), "%s says %s", path, text)
	}
}

// isSuspected makes a box look as if it had been suspected of calling too often an hour ago.
func isSuspected(t *testing.T, w *harness.World, box string) {
	t.Helper()
	ago := func(d time.Duration) types.AttributeValue {
		return &types.AttributeValueMemberS{Value: timestamp.Text(time.Now().Add(-d))}
	}
	number, hour := &types.AttributeValueMemberN{Value: "60"}, ago(time.Hour)
	table := dynamolocal.TableName(dynamo.Reports)
	expect.Value(w.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: &table, Key: map[string]types.AttributeValue{"edgeId": &types.AttributeValueMemberS{Value: box}},
		UpdateExpression: new("SET frequent = :suspected, offer.since = :long"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":long": ago(24 * time.Hour), ":suspected": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
			"since": hour, "at": hour, "everySeconds": number, "toldSeconds": number, "dollarsPerMonth": number}}},
	}))(t)
}
