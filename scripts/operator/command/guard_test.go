package command_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// acting is a policy under which things happen in seconds instead of hours.
const acting = `{"guard":{"silentAfter":"PT2M","decideWithin":"PT4S"},"promote":{"auto":true,"soak":{"1":"PT1S","10":"PT1S","50":"PT1S","100":"PT1S"}}}`

// newJudgedDesk starts a service with a guard that looks every second.
func newJudgedDesk(t *testing.T) *desk {
	t.Helper()
	return newDesk(t, settings(setting.ChannelCacheSeconds.Assign(0), setting.GuardIntervalSeconds.Assign(1)))
}

// startsJudged starts a rollout of 1.1.0 on stable that the guard judges, for boxes that it reaches at 1 percent.
func (d *desk) startsJudged(policy string, boxes int) (ids []string) {
	d.Helper()
	d.publishes()
	for i := 0; len(ids) < boxes; i++ {
		if id := fmt.Sprintf("box-%04d", i); cohort.Of("gateway-x", "1.1.0", id).In(1) {
			ids = append(ids, id)
		}
	}
	if boxes > 0 {
		d.does("register", d.file("boxes.csv", csvOf(ids)), "--yes").is(run.Done)
	}
	d.does("start", "gateway-x/stable", "1.1.0", "--policy", d.file("policy.json", policy), "--yes").is(run.Done)
	return ids
}

// guardLooks makes the guard look, a second after its last look.
func (d *desk) guardLooks() {
	d.Helper()
	time.Sleep(time.Second)
	expect.OK(d, d.RunTask(d.Context(), operations.Tick))
}

// TestSession_TheGuardHalts runs the commands of an operator while the guard halts a bad release.
func TestSession_TheGuardHalts(t *testing.T) {
	d := newJudgedDesk(t)
	boxes := d.startsJudged(acting, 5)
	waited, waiting := d.watches(nil, "wait", "gateway-x/stable", "--until", "ended", "--every", "200ms")
	lines, watching := d.watches(nil, "watch", "gateway-x/stable", "--every", "200ms")
	d.guardLooks()
	lines.shows(t, "Guard: Hold: ")
	d.breaks(boxes[0])
	d.guardLooks()
	lines.shows(t, "1 failed")
	d.stands("active", 1)
	for _, box := range boxes[1:] {
		d.breaks(box)
	}
	time.Sleep(4 * time.Second) // a box may try again for so long
	d.guardLooks()
	ends(t, waiting, run.Otherwise)
	ends(t, watching, run.Otherwise)
	waited.shows(t, "was halted by the guard, at 1 %")
	lines.shows(t, "Guard: Halt: 5 of 5 boxes with the release are bad")
	lines.shows(t, "why       Halt: 5 of 5 boxes with the release are bad")
	t.Logf("watch printed\n%s", lines)

	d.does("halt", "gateway-x/stable").is(run.Done).says("no rollout is active")
	d.does("why", boxes[0], "--verify").is(run.Done).says("It failed at 1.1.0", "Computed here, too: percentile 0, reached at 1 %")
	d.does("log", "gateway-x/stable").is(run.Done).says("guard  RolloutHalted", "Halt: 5 of 5 boxes with the release are bad")
	d.does("log", "--actor", "guard").is(run.Done).says("RolloutHalted").not("olga")
	var events struct {
		Items []struct{ Actor struct{ UserID string } }
	}
	d.does("log", "gateway-x/stable", "--json").is(run.Done).into(&events)
	actors := map[string]int{}
	for _, e := range events.Items {
		actors[e.Actor.UserID]++
	}
	expect.Equal(t, []any{actors["guard"], actors["olga"]}, []any{1, 2}, "the log is of")

	d.does("resume", "gateway-x/stable", "--yes").is(run.Misused).warns("The guard halted it", "--confirm gateway-x/stable")
	d.does("resume", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Done)
	expect.Equal(t, d.Owner(t).Get(t, "/api/ota/rollouts/"+d.rollout()+"/policy").Object(t)["mode"], "act", "the guard's mode is")
}

func TestStart_PolicyThatIsWrong_IsRefused(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	start := func(policy string) result {
		return d.does("start", "gateway-x/stable", "1.1.0", "--yes", "--policy", policy)
	}
	start(d.dir + "/nowhere.json").is(run.Misused)
	start(d.file("text.json", "mode: act")).is(run.Misused).warns("is not a valid policy", "exactly one JSON value")
	start(d.file("wrong.json", `{"mode":"drive","approvals":{"before":[5]}}`)).is(run.Misused).
		warns("/mode must be advise or act", "/approvals/before/0")
	d.does("start", "gateway-x/stable", "1.1.0", "--yes", "--reason", "the tests are green").is(run.Done)
	d.does("log").is(run.Done).says("the tests are green")
}

func TestPromote_AgainstTheGuard_AsksForTheName(t *testing.T) {
	d := newJudgedDesk(t)
	d.startsJudged(`{"mode":"advise"}`, 1)
	d.guardLooks()
	d.does("status", "gateway-x/stable").is(run.Done).says("guard     Hold: ")
	d.does("promote", "gateway-x/stable", "--yes").is(run.Misused).warns("Guard: Hold: ", "--confirm gateway-x/stable")
	d.does("promote", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Done).says("is at 10 %")
	d.does("complete", "gateway-x/stable", "--yes").is(run.Done) // it reaches no other box
}

func TestComplete_AgainstTheGuard_AsksForTheName(t *testing.T) {
	d := newJudgedDesk(t)
	d.startsJudged(`{"mode":"advise"}`, 1)
	for range 3 {
		d.does("promote", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Done)
	}
	d.guardLooks()
	d.does("complete", "gateway-x/stable", "--yes").is(run.Misused).warns("Guard: Hold: ", "--confirm gateway-x/stable")
	d.does("complete", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Done)
}

func TestApprove_OnlyASecondPersonCan(t *testing.T) {
	d := newDesk(t)
	d.startsJudged(`{"approvals":{"before":[10]}}`, 0)
	d.does("promote", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Refused).warns("APPROVAL_REQUIRED", "wavegate approve")
	d.does("approve", "gateway-x/stable", "--yes").is(run.SignIn).warns("SELF_APPROVAL")
	anna := d.as("anna")
	anna.does("approve", "gateway-x/stable").is(run.Misused).warns("approve 10 % of 1.1.0", "--yes")
	anna.does("approve", "gateway-x/stable", "--yes", "--reason", "looked at the first boxes").is(run.Done).says("10 % is approved")
	d.does("promote", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Done).says("is at 10 %")
	anna.does("approve", "gateway-x/stable", "--yes").is(run.Refused).warns("INVALID_STATE_TRANSITION")
	d.does("log", "--actor", "anna").is(run.Done).says("looked at the first boxes")
}

func TestFreeze_HoldsEverythingButHalts_UntilItIsLifted(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	d.does("unfreeze", "--yes").is(run.Done).says("no freeze is active")
	d.does("freeze", "--for", "1h").is(run.Misused)
	d.does("freeze", "--for", "1h", "--reason", "holidays").is(run.Misused).warns("Freeze all channels until", "--yes")
	d.does("freeze", "--for", "9000h", "--reason", "holidays", "--yes").is(run.Refused).warns("/until")
	d.does("freeze", "--for", "1h", "--reason", "holidays", "--yes").is(run.Done).says("frozen until")
	for name, args := range map[string][]string{
		"promote": {"promote", "gateway-x/stable", "--yes"},
		"publish": append(publishing("gateway-x/canary", "1.2.0"), "--confirm", "gateway-x/canary"),
		"start":   {"start", "gateway-x/canary", "1.0.0", "--confirm", "gateway-x/canary"},
	} {
		d.does(args...).is(run.Refused).warns("FROZEN", "holidays", "--override").not("\n")
		d.does(append(args, "--override", name+" cannot wait")...).is(run.Done)
	}
	d.does("halt", "gateway-x/stable").is(run.Done).says("at 10 %")
	d.does("resume", "gateway-x/stable", "--yes").is(run.Refused).warns("FROZEN")
	d.does("unfreeze").is(run.Misused).warns("add --yes")
	d.does("unfreeze", "--confirm", "freeze").is(run.Misused)
	d.does("unfreeze", "--confirm", "unfreeze").is(run.Done).says("the freeze has ended")
	d.does("resume", "gateway-x/stable", "--yes").is(run.Done)
	d.does("log").is(run.Done).says("holidays", "promote cannot wait", "publish cannot wait", "start cannot wait")
}

func TestPromote_ClosedWindow_IsPassedWithAReason(t *testing.T) {
	d := newDesk(t)
	day := strings.ToLower(time.Now().UTC().AddDate(0, 0, 3).Weekday().String()[:3])
	d.startsJudged(`{"promote":{"windows":[{"days":["`+day+`"],"from":"00:00","to":"01:00","timeZone":"UTC"}]}}`, 0)
	d.does("promote", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Refused).warns("WINDOW_CLOSED", "--override")
	d.does("promote", "gateway-x/stable", "--confirm", "gateway-x/stable", "--override", "it fixes an outage").is(run.Done)
	d.does("log").is(run.Done).says("it fixes an outage")
}

func TestApprove_AnswerThatIsLost_IsUnknown_AndToRepeatItIsSafe(t *testing.T) {
	d := newDesk(t)
	d.startsJudged(`{"approvals":{"before":[10]}}`, 0)
	anna := d.as("anna")
	anna.seen = losesOne(http.MethodPost)
	anna.does("approve", "gateway-x/stable", "--yes").is(run.Unknown)
	anna.does("approve", "gateway-x/stable", "--yes").is(run.Done)
	d.does("promote", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Done)
}

// TestPublish_AnswerThatIsLost_IsUnknown: the second try is refused because the first one succeeded.
func TestPublish_AnswerThatIsLost_IsUnknown(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.seen = losesOne(http.MethodPut)
	d.publish("gateway-x/stable", "1.2.0").
		is(run.Unknown).warns("PRECONDITION_FAILED", "the answer to the first try was lost")
	d.does("status", "gateway-x/stable").is(run.Done).says("1.2.0")
}

// TestStart_TheGuardOfARollout_IsShownWhereverItIs: by default it halts, with --auto it also promotes, and every
// command mentions --no-guard.
func TestStart_TheGuardOfARollout_IsShownWhereverItIs(t *testing.T) {
	for name, c := range map[string]struct {
		flags              []string
		column, text, auto string
	}{
		"by default":      {nil, "the guard acts", "", `"promote":{"auto":false`},
		"it promotes":     {[]string{"--auto"}, "the guard acts", "", `"promote":{"auto":true`},
		"without a guard": {[]string{"--no-guard"}, ", no guard", ", no guard", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.publishes()
			d.does(append([]string{"start", "gateway-x/stable", "1.1.0", "--yes"}, c.flags...)...).is(run.Done)
			d.does("status").is(run.Done).says(c.column)
			d.does("status", "gateway-x/stable").is(run.Done).says("1.0.0 → 1.1.0", c.text)
			policy := d.Owner(t).Get(t, "/api/ota/rollouts/"+d.rollout()+"/policy")
			if c.auto == "" {
				policy.Refused(t, problem.NotFound)
			} else if text := string(policy.Is(t, http.StatusOK).Body); !strings.Contains(text, c.auto) || !strings.Contains(text, `"mode":"act"`) {
				t.Errorf("the policy is %s", text)
			}
		})
	}
}
