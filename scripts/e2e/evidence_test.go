package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
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
	if err := w.RunTask(t.Context(), operations.Tick); err != nil {
		t.Fatal(err)
	}
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
	if last := verdict(t, w, rollout); last["eventName"] == "RolloutHalted" {
		t.Errorf("the trail ends with %v", last)
	}
	var p struct {
		Young    int
		NewFleet bool
		Failures map[string]int
	}
	w.Owner(t).Get(t, rollout+"/progress").Is(t, http.StatusOK).Into(t, &p)
	if p.Young != 10 || p.NewFleet || p.Failures["boot"] != 10 {
		t.Errorf("the progress says %+v", p)
	}
}

// isOld makes a box look as if an earlier release of the service had registered it.
func isOld(t *testing.T, w *harness.World, box string) {
	t.Helper()
	table := dynamolocal.TableName(dynamo.Reports)
	_, err := w.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: &table, Key: map[string]types.AttributeValue{"edgeId": &types.AttributeValueMemberS{Value: box}},
		UpdateExpression: new("REMOVE registeredAt"),
	})
	if err != nil {
		t.Fatal(err)
	}
}
