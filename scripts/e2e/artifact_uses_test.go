package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// due lets a file's deletion be a week old.
func (f file) due(t *testing.T, w *harness.World) {
	t.Helper()
	_, err := w.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(dynamolocal.TableName(dynamo.Releases)),
		Key: map[string]types.AttributeValue{"edgeType": &types.AttributeValueMemberS{Value: "#artifacts"},
			"version": &types.AttributeValueMemberS{Value: "gateway-x/" + f.sum()}},
		UpdateExpression:          aws.String("SET removeAt = :past"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":past": &types.AttributeValueMemberS{Value: timestamp.Text(time.Now().Add(-time.Minute))}},
	})
	expect.OK(t, err)
}

// sweep runs a tick in a new container, which sweeps.
func sweep(t *testing.T, w *harness.World) {
	t.Helper()
	w.Function(operations.Tick).Recycle()
	expect.OK(t, w.RunTask(t.Context(), operations.Tick))
}

func (f file) delete(t *testing.T, c *harness.Caller) harness.Answer {
	t.Helper()
	return c.Do(t, http.MethodDelete, f.path(), "")
}

// TestArtifact_WhatUsesIt_KeepsIt: each use refuses the deletion, and is named.
func TestArtifact_WhatUsesIt_KeepsIt(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	const one, two, three, notes = file("1.0.0"), file("2.0.0"), file("3.0.0"), file("what is new in 3.0.0")
	for _, f := range []file{one, two, three, notes} {
		keep(t, owner, f)
	}
	owner.Put(t, channel, strings.Replace(one.publish("1.0.0"), "}", `,"order":1}`, 1)).Is(t, http.StatusCreated)
	owner.Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich"}`).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","factoryId":"munich-1"}`).Is(t, http.StatusCreated)
	owner.Put(t, channel, strings.Replace(two.publish("2.0.0"), "}", `,"order":2,"requires":"1.0.0"}`, 1)).Is(t, http.StatusNoContent)
	owner.Put(t, channel, strings.Replace(three.publish("3.0.0"), "}", fmt.Sprintf(`,"documents":[{"kind":"notes","sha256":%q},{"kind":"sbom","url":"https://evidence.example/3.json"}]}`,
		notes.sum()), 1)).Is(t, http.StatusNoContent)
	shown := owner.Get(t, channel)
	shown.Has(t, fmt.Sprintf(`{"documents":[{"kind":"notes","sha256":%q},{"kind":"sbom","url":"https://evidence.example/3.json"}]}`, notes.sum()))
	refused := func(f file, why string) {
		t.Helper()
		expect.Equal(t, f.delete(t, owner).Refused(t, problem.ArtifactInUse).Detail, "The artifact is in use: "+why+".", "the refusal")
	}
	refused(one, "release 2.0.0 requires 1.0.0")
	refused(notes, "release 3.0.0 has it as a document")
	refused(three, "channel stable has version 3.0.0")
	owner.Put(t, "/api/ota/releases/gateway-x/3.0.0", `{"documents":[{"kind":"sbom","url":"https://evidence.example/3b.json"}]}`).Is(t, http.StatusNoContent)
	owner.Get(t, "/api/ota/releases/gateway-x/3.0.0").Has(t, fmt.Sprintf(`{"documents":[{"kind":"sbom","url":"https://evidence.example/3b.json"}],"replaced":[{"kind":"notes","sha256":%q},{"kind":"sbom","url":"https://evidence.example/3.json"}]}`, notes.sum()))
	refused(notes, "release 3.0.0 had it as a document")
	owner.Put(t, "/api/ota/releases/gateway-x/3.0.0", fmt.Sprintf(`{"documents":[{"kind":"notes","sha256":%q}]}`, digest("f"))).Refused(t, problem.ArtifactNotKept)
	owner.Put(t, "/api/ota/releases/gateway-x/9.9.9", `{"supportedUntil":null}`).Refused(t, problem.NotFound)
	const pin = `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","pin":{"version":"2.0.0","reason":"a test"}}`
	owner.Put(t, "/api/edges/box-1", pin).Is(t, http.StatusNoContent)
	refused(two, "box box-1 is pinned to 2.0.0")
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","pin":null}`).Is(t, http.StatusNoContent)
	two.delete(t, owner).Is(t, http.StatusNoContent)
	two.delete(t, owner).Is(t, http.StatusNoContent)

	owner.Put(t, "/api/edges/box-1", pin).Refused(t, problem.ArtifactNotKept)
	owner.Post(t, "/api/edges", strings.Replace(`{"edges":[`+pin+`]}`, `{"edgeType"`, `{"edgeId":"box-2","edgeType"`, 1)).Refused(t, problem.ArtifactNotKept)
	owner.Post(t, "/api/ota/rollouts", plan("gateway-x", "stable", "2.0.0")).Refused(t, problem.ArtifactNotKept)
	owner.Put(t, channelPath("gateway-x", "canary"), two.publish("2.0.0")).Refused(t, problem.ArtifactNotKept)
	owner.Put(t, channelPath("gateway-x", "canary"), strings.Replace(release("4.0.0", digest("a")), "}", `,"requires":"2.0.0"}`, 1)).Refused(t, problem.ArtifactNotKept)
	owner.Put(t, channelPath("gateway-x", "canary"), strings.Replace(release("4.0.0", digest("a")), "}", fmt.Sprintf(`,"documents":[{"kind":"notes","sha256":%q}]}`, two.sum()), 1)).
		Refused(t, problem.ArtifactNotKept)
	owner.Patch(t, two.path(), `{"state":"kept"}`).Refused(t, problem.Conflict)
	two.due(t, w)
	sweep(t, w)
	owner.Get(t, two.path()).Has(t, `{"state":"removed","url":null}`)
	expect.Equal(t, strings.Join(eventNames(w, t, "artifact", "gateway-x/"+two.sum()), " "), "ArtifactAsked ArtifactKept ArtifactDeleted ArtifactRemoved", "the events")
	keep(t, owner, two)
	owner.Post(t, "/api/ota/rollouts", plan("gateway-x", "stable", "2.0.0")).Is(t, http.StatusCreated)
	refused(two, "channel stable has version 2.0.0")
}

// TestArtifact_ThatABoxRuns_ComesBack: boxes reported it after it was deleted.
func TestArtifact_ThatABoxRuns_ComesBack(t *testing.T) {
	t.Parallel()
	w, owner := begin(t, func(o *service.Options) { // counts that are half a second old are made again
		o.Environment = func(string) []string { return []string{setting.GuardIntervalSeconds.Assign(1)} }
	})
	const one, two = file("1.0.0"), file("2.0.0")
	keep(t, owner, one)
	keep(t, owner, two)
	owner.Put(t, channel, one.publish("1.0.0")).Is(t, http.StatusCreated)
	owner.Put(t, channel, two.publish("2.0.0")).Is(t, http.StatusNoContent)
	one.delete(t, owner).Is(t, http.StatusNoContent)
	owner.Get(t, one.path()).Has(t, `{"state":"deleted"}`)
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	w.Box(t, "box-1").Get(t, "/api/edges/box-1/update/manifest?installed=1.0.0").Is(t, http.StatusOK)
	expect.Until(t, "a count has the box", func() bool {
		return strings.Contains(string(owner.Get(t, channel+"/progress?fresh=true").Body), `"version":"1.0.0"`)
	})
	one.due(t, w)
	sweep(t, w)
	owner.Get(t, one.path()).Has(t, `{"state":"kept"}`)
	expect.Equal(t, one.delete(t, owner).Refused(t, problem.ArtifactInUse).Detail, "The artifact is in use: boxes of channel stable run 1.0.0: 1.", "the refusal")
}

// TestArtifact_OnAChannelWithoutAPublication_IsUsed by boxes that are pinned to it or run it; what boxes only say is no use if an
// owner gives a reason, also when the bytes go.
func TestArtifact_OnAChannelWithoutAPublication_IsUsed(t *testing.T) {
	t.Parallel()
	w, owner := begin(t, func(o *service.Options) { // counts that are half a second old are made again
		o.Environment = func(string) []string { return []string{setting.GuardIntervalSeconds.Assign(1)} }
	})
	const one, two = file("1.0.0"), file("2.0.0")
	keep(t, owner, one)
	keep(t, owner, two)
	owner.Put(t, channel, strings.Replace(one.publish("1.0.0"), "}", `,"order":1}`, 1)).Is(t, http.StatusCreated)
	owner.Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich"}`).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","factoryId":"munich-1"}`).Is(t, http.StatusCreated)
	w.Box(t, "box-1").Get(t, "/api/edges/box-1/update/manifest?installed=0.9.0").Is(t, http.StatusOK) // it is told 1.0.0
	owner.Put(t, channel, two.publish("2.0.0")).Is(t, http.StatusNoContent)
	expect.Until(t, "box-1 is told 2.0.0", func() bool {
		return strings.Contains(string(w.Box(t, "box-1").Get(t, "/api/edges/box-1/update/manifest?installed=0.9.0").Body), `"version":"2.0.0"`)
	})
	const trial = `{"edgeType":"gateway-x","channel":"trial","organizationId":"acme"}`
	refused := func(query, why string) {
		t.Helper()
		answer := owner.Do(t, http.MethodDelete, one.path()+query, "").Refused(t, problem.ArtifactInUse)
		expect.Equal(t, answer.Detail, "The artifact is in use: "+why+".", "the refusal")
	}
	used := func(why string) {
		t.Helper()
		expect.Until(t, why, func() bool { return strings.Contains(string(owner.Get(t, one.path()+"?uses=true").Body), why) })
	}
	owner.Put(t, "/api/edges/box-2", strings.Replace(trial, "}", `,"pin":{"version":"1.0.0","reason":"a test"}}`, 1)).Is(t, http.StatusCreated)
	used("box box-2 is pinned to 1.0.0")
	refused("", "box box-2 is pinned to 1.0.0")
	owner.Do(t, http.MethodDelete, "/api/edges/box-2", "").Is(t, http.StatusNoContent)

	w.Box(t, "box-1").Get(t, "/api/edges/box-1/update/manifest?installed=1.0.0").Is(t, http.StatusOK)
	owner.Put(t, "/api/edges/box-1", trial).Is(t, http.StatusNoContent)
	used("boxes of channel trial run 1.0.0: 1")
	refused("", "boxes of channel trial run 1.0.0: 1")
	refused("?reason=old", "box box-1 was told it")
	owner.Do(t, http.MethodDelete, "/api/edges/box-1", "").Is(t, http.StatusNoContent)

	owner.Put(t, "/api/edges/box-3", strings.Replace(trial, "trial", "stable", 1)).Is(t, http.StatusCreated)
	w.Box(t, "box-3").Get(t, "/api/edges/box-3/update/manifest?installed=1.0.0").Is(t, http.StatusOK)
	used("boxes of channel stable run 1.0.0: 1")
	refused("", "boxes of channel stable run 1.0.0: 1")
	owner.Do(t, http.MethodDelete, one.path()+"?reason=never+told", "").Is(t, http.StatusNoContent)
	one.due(t, w)
	sweep(t, w)
	owner.Get(t, one.path()).Has(t, `{"state":"removed"}`)
}

// TestArtifact_StoreIsDown_NothingElseStops: polls, publications by URL, rollouts and ticks go on.
func TestArtifact_StoreIsDown_NothingElseStops(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	const one, two = file("1.0.0"), file("2.0.0")
	keep(t, owner, one)
	owner.Put(t, channel, one.publish("1.0.0")).Is(t, http.StatusCreated)
	keep(t, owner, two)
	two.delete(t, owner).Is(t, http.StatusNoContent)
	two.due(t, w)
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	w.Bucket.Down.Store(true)
	owner.Put(t, one.path(), one.wish()).Refused(t, problem.Unavailable)
	owner.Put(t, file("3.0.0").path(), file("3.0.0").wish()).Is(t, http.StatusCreated)
	owner.Patch(t, file("3.0.0").path(), `{"state":"kept"}`).Refused(t, problem.Unavailable)
	sweep(t, w)
	w.Box(t, "box-1").Get(t, "/api/edges/box-1/update/manifest").Is(t, http.StatusOK)
	owner.Put(t, channelPath("gateway-x", "canary"), one.publish("1.0.0")).Is(t, http.StatusCreated)
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusNoContent)
	path := owner.Post(t, "/api/ota/rollouts", plan("gateway-x", "stable", "1.1.0")).Made(t)
	owner.Patch(t, path, `{"status":"halted"}`).Is(t, http.StatusNoContent)
	owner.Put(t, two.path(), two.wish()).Refused(t, problem.Conflict) // nothing undoes its removal
	w.Bucket.Down.Store(false)
	sweep(t, w)
	owner.Get(t, two.path()).Has(t, `{"state":"removed","url":null}`)
}

// TestArtifact_WithoutAStore_AReleaseNeedsAURL, and the other calls say that there is none.
func TestArtifact_WithoutAStore_AReleaseNeedsAURL(t *testing.T) {
	t.Parallel()
	const image = file("1.0.0")
	w, owner := begin(t, func(o *service.Options) {
		o.Environment = func(string) []string {
			return []string{string(setting.ArtifactStoreURL) + "=", string(setting.ArtifactURL) + "="}
		}
	})
	refused := owner.Put(t, channel, image.publish("1.0.0")).Refused(t, problem.ValidationFailed)
	expect.Equal(t, fmt.Sprint(refused.Errors), "[{/artifactUrl  required is required}]", "the faults")
	owner.Put(t, image.path(), image.wish()).Refused(t, problem.Unavailable)
	owner.Patch(t, image.path(), `{"state":"kept"}`).Refused(t, problem.Unavailable)
	owner.Get(t, image.path()).Refused(t, problem.Unavailable)
	owner.Get(t, "/api/ota/artifacts").Refused(t, problem.Unavailable)
	image.delete(t, owner).Refused(t, problem.Unavailable)
	sweep(t, w)
	owner.Put(t, channel, release("1.0.0", image.sum())).Is(t, http.StatusCreated)
}

// TestPublication_ThatNoDDIBoxIsTold_Warns: silence would be taken for success.
func TestPublication_ThatNoDDIBoxIsTold_Warns(t *testing.T) {
	t.Parallel()
	_, owner := begin(t)
	const notCounted = "Not counted: how many boxes of the channel are not told 1.0.0 at their next poll. Read the channel's progress to count them."
	const want = "No box with a DDI client is told release 1.0.0: it was published without sizeBytes and sha1. Publish it again with both."
	expect.Equal(t, owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusCreated).Header.Get("Wavegate-Warning"), want, "the warning")
	expect.Equal(t, owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusNoContent).Header.Get("Wavegate-Warning"), notCounted, "with both, the warning")
	expect.Equal(t, owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusNoContent).Header.Get("Wavegate-Warning"), notCounted, "the release has both: the warning")
	owner.Put(t, channel, release("1.0.0", digest("b"))).Refused(t, problem.ReleaseImmutable)
}
