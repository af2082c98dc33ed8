package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// judgedRollout starts a rollout with a policy and returns its path.
func judgedRollout(t *testing.T, w *harness.World, policy string) string {
	t.Helper()
	owner := w.Owner(t)
	owner.Put(t, "/api/ota/release-channels/gateway-x/stable", release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, "/api/ota/release-channels/gateway-x/canary", release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	body := strings.TrimSuffix(plan("gateway-x", "stable", "1.1.0"), "}") + `,"policy":` + policy + `}`
	return owner.Post(t, rollouts, body).Is(t, http.StatusCreated).Header.Get("Location")
}

// TestGuard_Policy_TellsEveryFaultAtOnce_AndChangesNothing: so that the whole document can be corrected in one go.
func TestGuard_Policy_TellsEveryFaultAtOnce_AndChangesNothing(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	rollout := judgedRollout(t, w, `{}`)
	before := owner.Get(t, rollout+"/policy").Is(t, http.StatusOK)
	const wrong = `{"mode":"on","guard":{"acceptable":5,"silentAfter":"10m"},"promote":{"soak":{"2":"PT1H"},"windows":[{"from":"25:00","to":"26:00","timeZone":"Berlin"}]},"approvals":{"before":[1]},"more":true}`
	d := owner.Put(t, rollout+"/policy", wrong).Refused(t, problem.ValidationFailed)
	var pointers []string
	for _, f := range d.Errors {
		pointers = append(pointers, f.Pointer)
	}
	want := "/mode /guard/acceptable /guard/silentAfter /promote/soak/2 /promote/windows/0/from /promote/windows/0/to /promote/windows/0/timeZone /approvals/before/0 /more"
	if got := strings.Join(pointers, " "); got != want {
		t.Errorf("faults at %s\nwant %s", got, want)
	}
	if after := owner.Get(t, rollout+"/policy").Is(t, http.StatusOK); string(after.Body) != string(before.Body) || after.Header.Get("ETag") != before.Header.Get("ETag") {
		t.Errorf("the policy was %s and is %s", before.Body, after.Body)
	}
	// At the start, the answer lists the policy's faults with those of the plan, and no rollout starts.
	d = owner.Post(t, rollouts, `{"edgeType":"gateway x","channel":"canary","targetVersion":"1.0.0","policy":{"mode":"on"}}`).Refused(t, problem.ValidationFailed)
	if len(d.Errors) != 2 || d.Errors[0].Pointer != "/edgeType" || d.Errors[1].Pointer != "/policy/mode" {
		t.Errorf("faults %+v", d.Errors)
	}
	owner.Get(t, rollouts+"/0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a/policy").Refused(t, problem.NotFound)
}

// TestGuard_ARolloutThatSaysNothing_HasTheGuardThatHalts: only null means no guard, and every answer with the rollout
// says so. The specification's PATCH works with all of them.
func TestGuard_ARolloutThatSaysNothing_HasTheGuardThatHalts(t *testing.T) {
	for policy, want := range map[string]struct{ mode, auto string }{
		``: {"act", "false"}, `{}`: {"act", "false"}, `{"promote":{"auto":true}}`: {"act", "true"}, `{"mode":"advise"}`: {"advise", "false"}, `null`: {"none", ""},
	} {
		t.Run(policy, func(t *testing.T) {
			w := harness.New(t)
			owner := w.Owner(t)
			owner.Put(t, "/api/ota/release-channels/gateway-x/stable", release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
			owner.Put(t, "/api/ota/release-channels/gateway-x/canary", release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
			body := plan("gateway-x", "stable", "1.1.0")
			if policy != "" {
				body = strings.TrimSuffix(body, "}") + `,"policy":` + policy + `}`
			}
			at := owner.Post(t, rollouts, body).Is(t, http.StatusCreated).Header.Get("Location")
			for _, read := range []string{at, rollouts, "/api/ota/release-channels/gateway-x/stable", "/api/ota/release-channels"} {
				if text := string(owner.Get(t, read).Is(t, http.StatusOK).Body); !strings.Contains(text, `"guard":"`+want.mode+`"`) {
					t.Errorf("%s does not say that the guard is %s: %s", read, want.mode, text)
				}
			}
			if want.auto == "" {
				owner.Get(t, at+"/policy").Refused(t, problem.NotFound)
			} else if text := string(owner.Get(t, at+"/policy").Is(t, http.StatusOK).Body); !strings.Contains(text, `"auto":`+want.auto) {
				t.Errorf("the policy is %s", text)
			}
			for _, change := range []string{`{"staged_percent":10}`, `{"staged_percent":50}`, `{"status":"halted"}`, `{"status":"active"}`, `{"staged_percent":100}`, `{"status":"completed"}`} {
				owner.Patch(t, at, change).Is(t, http.StatusNoContent)
			}
		})
	}
}

// TestGuard_SecondPair_WindowsAndFreeze_HoldUpEveryoneButHalts takes one rollout through everything that people can
// set.
func TestGuard_SecondPair_WindowsAndFreeze_HoldUpEveryoneButHalts(t *testing.T) {
	w := harness.New(t)
	olga, otto := w.Owner(t), w.As(t, "otto", "wavegate", auth.PlatformOwner)
	// A window that stays closed for hours, at any time of the run.
	hour := time.Now().UTC().Add(6 * time.Hour).Format("15:00")
	closed := `{"from":"` + hour + `","to":"` + hour[:2] + `:01","timeZone":"UTC"}`
	rollout := judgedRollout(t, w, `{"promote":{"windows":[`+closed+`]},"approvals":{"before":[10]}}`)

	const raise, approval, passing = `{"staged_percent":10}`, `{"stage":10}`, `{"staged_percent":10,"overrideReason":"a security fix"}`
	olga.Patch(t, rollout, raise).Refused(t, problem.ApprovalRequired)
	olga.Patch(t, rollout, passing).Refused(t, problem.ApprovalRequired)
	olga.Post(t, rollout+"/approvals", approval).Refused(t, problem.SelfApproval)
	otto.Post(t, rollout+"/approvals", approval).Is(t, http.StatusNoContent)
	otto.Post(t, rollout+"/approvals", approval).Is(t, http.StatusNoContent)
	otto.Post(t, rollout+"/approvals", `{"stage":50}`).Refused(t, problem.InvalidStateTransition)
	olga.Patch(t, rollout, raise).Refused(t, problem.WindowClosed)

	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	olga.Put(t, "/api/ota/freeze", `{"reason":"holidays","until":"`+until+`"}`).Is(t, http.StatusCreated)
	olga.Patch(t, rollout, raise).Refused(t, problem.Frozen)
	olga.Put(t, "/api/ota/release-channels/gateway-y/stable", release("1.0.0", digest("a"))).Refused(t, problem.Frozen)
	olga.Post(t, rollouts, plan("gateway-x", "canary", "1.0.0")).Refused(t, problem.Frozen)
	olga.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
	olga.Put(t, rollout+"/policy", `{"promote":{"windows":[`+closed+`]}}`).Refused(t, problem.InvalidStateTransition)
	// While it is halted, its policy can change and be approved, too.
	olga.Put(t, rollout+"/policy", `{"approvals":{"before":[10,50]}}`).Refused(t, problem.WindowClosed)
	olga.Put(t, rollout+"/policy", `{"promote":{"windows":[`+closed+`]},"approvals":{"before":[10,50]}}`).Is(t, http.StatusNoContent)
	otto.Post(t, rollout+"/approvals", approval).Is(t, http.StatusNoContent)
	olga.Patch(t, rollout, `{"status":"active"}`).Refused(t, problem.Frozen)
	olga.Do(t, http.MethodDelete, "/api/ota/freeze", "").Is(t, http.StatusNoContent)
	olga.Do(t, http.MethodDelete, "/api/ota/freeze", "").Refused(t, problem.NotFound)
	olga.Patch(t, rollout, `{"status":"active"}`).Refused(t, problem.WindowClosed)
	olga.Patch(t, rollout, `{"status":"active","overrideReason":"a security fix"}`).Is(t, http.StatusNoContent)
	olga.Patch(t, rollout, passing).Is(t, http.StatusNoContent)

	events := w.Events(t, "rollout", id(rollout))
	last := events[len(events)-1]
	if last["eventName"] != "RolloutPromoted" || last["overrideReason"] != "a security fix" {
		t.Errorf("the trail ends with %v", last)
	}
	if got := eventNames(w, t, "freeze", "freeze"); !slices.Equal(got, []string{"FreezeSet", "FreezeLifted"}) {
		t.Errorf("the trail tells %q of the freeze", got)
	}
}

func TestGuard_Freeze_EndsInTheFutureAndWithinThirtyDays(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	for _, until := range []time.Time{time.Now().Add(-time.Minute), time.Now().Add(31 * 24 * time.Hour)} {
		owner.Put(t, "/api/ota/freeze", `{"reason":"holidays","until":"`+until.UTC().Format(time.RFC3339)+`"}`).Refused(t, problem.ValidationFailed)
	}
	owner.Put(t, "/api/ota/freeze", `{}`).Refused(t, problem.ValidationFailed)
	owner.Get(t, "/api/ota/freeze").Refused(t, problem.NotFound)
}

// quickly is a policy with which two boxes decide, seconds after they polled.
const quickly = `{"guard":{"acceptable":0.001,"intolerable":0.5,"silentAfter":"PT2S","decideWithin":"PT2S"},` +
	`"promote":{"auto":true,"soak":{"1":"PT0S","10":"PT0S","50":"PT0S","100":"PT0S"}}}`

// lookEachSecond allows policies with seconds. Every poll reads its channel's row.
func lookEachSecond(o *service.Options) {
	o.Environment = func(string) []string {
		return []string{setting.ChannelCacheSeconds.Assign(0), setting.GuardIntervalSeconds.Assign(1)}
	}
}

// TestGuard_Tick_HaltsABadRelease_AndCompletesAGoodOne by the reports of two boxes.
func TestGuard_Tick_HaltsABadRelease_AndCompletesAGoodOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bad    bool
		event  string
		status string
	}{"bad": {true, "RolloutHalted", "halted"}, "good": {false, "RolloutCompleted", "completed"}} {
		t.Run(name, func(t *testing.T) {
			w := harness.New(t, lookEachSecond)
			owner := w.Owner(t)
			boxes := []string{"box-1", "box-2"}
			rollout := judgedRollout(t, w, quickly)
			for _, box := range boxes {
				owner.Put(t, "/api/edges/"+box, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
			}
			poll := func(installed string) {
				t.Helper()
				for _, box := range boxes {
					w.Box(t, box).Get(t, manifestPath(box)+"?installed="+installed).Is(t, http.StatusOK)
				}
			}
			for _, percent := range []string{"10", "50", "100"} {
				owner.Patch(t, rollout, `{"staged_percent":`+percent+`}`).Is(t, http.StatusNoContent)
			}
			poll("1.0.0")
			if c.bad {
				for _, box := range boxes {
					w.Box(t, box).Put(t, "/api/edges/"+box+"/update/report", `{"version":"1.1.0","attempt":1,"outcome":"failed","code":"boot"}`).Is(t, http.StatusOK)
				}
				time.Sleep(3 * time.Second) // they could try again
			} else {
				poll("1.1.0")
				time.Sleep(3 * time.Second) // it soaks
				poll("1.1.0")
			}
			if err := w.RunTask(t.Context(), operations.Tick); err != nil {
				t.Fatal(err)
			}
			events := w.Events(t, "rollout", id(rollout))
			last := events[len(events)-1]
			cause, _ := last["cause"].(map[string]any)
			if last["eventName"] != c.event || last["actor"].(map[string]any)["issuer"] != "urn:wavegate:guard" || cause["sentence"] == "" {
				t.Errorf("the trail ends with %v", last)
			}
			if r := owner.Get(t, rollout).Is(t, http.StatusOK).Object(t); r["status"] != c.status || r["adopted"] != !c.bad || r["endedBy"] != "guard" {
				t.Errorf("the rollout is %v", r)
			}
		})
	}
}
