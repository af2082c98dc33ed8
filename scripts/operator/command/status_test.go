package command_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wavegate/scripts/operator/run"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// A whole is the document that status prints for a channel.
type whole struct {
	Channel struct {
		EdgeType, Channel, CurrentVersion string
	}
	Freeze  *struct{ Reason string }
	Rollout struct {
		ID, Status string
	}
	Progress struct {
		RolloutID string
		Guard     struct{ Sentence string }
	}
	Trouble string
}

func TestStatus_OfAChannel_IsOneDocument_WithItsRollout_ItsCounts_AndTheGuard(t *testing.T) {
	d := newJudgedDesk(t)
	d.startsJudged(acting, 5)
	d.guardLooks()
	d.does("freeze", "--for", "1h", "--reason", "holidays", "--yes").is(run.Done)
	var w whole
	d.does("status", "gateway-x/stable", "--json").is(run.Done).into(&w)
	if w.Channel.CurrentVersion != "1.0.0" || w.Rollout.ID != d.rollout() || w.Progress.RolloutID != d.rollout() ||
		w.Freeze == nil || w.Freeze.Reason != "holidays" ||
		!strings.HasPrefix(w.Progress.Guard.Sentence, "Hold: ") {
		t.Errorf("it is %+v", w)
	}
	d.does("status", "gateway-x/stable").is(run.Done).says("freeze    until", "holidays", "guard     Hold: ")
	d.does("status", "gateway-x/canary").is(run.Done).says("1.1.0  there has never been a rollout")
}

// TestStatus_AfterAHalt_SaysWho_Why_HowMany_AndWhatNext: the commands can be copied and work.
func TestStatus_AfterAHalt_SaysWho_Why_HowMany_AndWhatNext(t *testing.T) {
	d := newDesk(t, settings(setting.ChannelCacheSeconds.Assign(0)))
	d.starts(30)
	d.fails()
	d.does("halt", "gateway-x/stable", "--reason", "box-0027 did not come back").is(run.Done)
	r := d.does("status", "gateway-x/stable").is(run.Done).
		says("1.0.0  no rollout is active; the last one", "halted at 10 % by olga, ", " s ago)",
			"why       box-0027 did not come back", "has it    0 of ", "boxes run 1.1.0", "so far", "failures  boot 1", "counted ")
	r.not("not active", "guard ", "next  ")
	for _, done := range []string{"boxes gateway-x/stable --state failed", "log gateway-x/stable",
		"resume gateway-x/stable", "return gateway-x/stable"} {
		expect.Must(t, strings.Contains(r.out, "wavegate "+done+"\n"), "it does not offer %q:\n%s", done, r.out)
		d.does("halt", "gateway-x/stable").is(run.Done)
		d.does(append(strings.Fields(done), "--yes", "--confirm", "gateway-x/stable")...).is(run.Done)
	}
	d.does("status", "gateway-x/stable").is(run.Done).
		says("halted at 10 % by olga", "since then           it was returned").not("wavegate resume",
		"wavegate return")
}

func TestStatus_OfAll_HasTrouble_First_AndSaysWhatIsLeftOut(t *testing.T) {
	d := newJudgedDesk(t)
	boxes := d.startsJudged(acting, 5)
	for _, name := range []string{"a/stable", "b/stable", "c/stable"} {
		d.publish(name, "1.0.0").is(run.Done)
	}
	d.publish("b/canary", "1.1.0").is(run.Done)
	d.does("start", "b/stable", "1.1.0", "--no-guard", "--yes").is(run.Done)
	d.guardLooks()
	d.breaks(boxes[0])
	d.does("freeze", "--for", "1h", "--reason", "holidays", "--yes").is(run.Done)
	r := d.does("status").is(run.Done).says("frozen until", "holidays")
	stable, quiet := strings.Index(r.out, "gateway-x/stable"), strings.Index(r.out, "a/stable")
	expect.That(t, stable <= quiet, "a channel without a rollout comes first:\n%s", r.out)
	d.does("halt", "b/stable", "--reason", "wrong build").is(run.Done)
	d.does("status").is(run.Done).says("! halted by olga: wrong build")
	d.does("status", "--limit", "2").is(run.Done).warns("4 more; --limit 0 for all")

	var all struct {
		Active int
		Items  []whole
		More   bool
	}
	if d.does("status", "--json").is(run.Done).into(&all); all.Active != 1 || len(all.Items) != 6 || all.More {
		t.Fatalf("it is %+v", all)
	}
	first, second := all.Items[0], all.Items[1]
	if first.Rollout.Status != "halted" || first.Channel.EdgeType != "b" || first.Trouble != "halted" ||
		second.Rollout.ID != d.rollout() || second.Channel.Channel != "stable" || second.Trouble == "" {
		t.Errorf("it begins with %+v, %+v", first, second)
	}
	d.does("seen", "b/stable", "--yes").is(run.Done).says("is marked as seen")
	d.does("status").is(run.Done).says("halted by olga: wrong build; seen by olga").not("! halted")
	if d.does("status", "--json").is(run.Done).into(&all); !slices.ContainsFunc(all.Items, func(w whole) bool { return w.Trouble == "seen" && w.Channel.EdgeType == "b" }) {
		t.Errorf("then it is %+v", all)
	}
}

// TestStatus_ReadsAllPagesOfTheOverview: it keeps the service's order and lists each rollout once.
func TestStatus_ReadsAllPagesOfTheOverview(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	const active = 250
	var calls []string
	d.answers = func(r *http.Request) (*http.Response, error) {
		if r.URL.Path != "/api/ota/overview" {
			return nil, nil
		}
		calls = append(calls, r.URL.RawQuery)
		skip, err := strconv.Atoi(r.URL.Query().Get("skip"))
		if err != nil {
			return nil, err
		}
		var items []string
		for i := skip; i < min(skip+100, active); i++ {
			items = append(items, fmt.Sprintf(`{"trouble":"none","ageSeconds":1,"rollout":{"id":"%d","edgeType":"type-%d","channel":"stable","previousVersion":"1.0.0","targetVersion":"1.1.0","staged_percent":1,"status":"active"}}`, i, i))
		}
		return answer(r, http.StatusOK, fmt.Sprintf(`{"active":%d,"items":[%s]}`, active, strings.Join(items, ","))), nil
	}
	var all struct {
		Items []whole
		More  bool
	}
	if d.does("status", "--limit", "0", "--json").is(run.Done).into(&all); len(all.Items) != active+2 || all.More {
		t.Fatalf("%d channels, more %v", len(all.Items), all.More)
	}
	for i, one := range all.Items[:active] {
		expect.Must(t, one.Rollout.ID == strconv.Itoa(i), "the rollout %s comes at %d", one.Rollout.ID, i)
	}
	want := []string{"limit=100&skip=0", "limit=100&skip=100", "limit=100&skip=200"}
	expect.That(t, slices.Equal(calls, want), "it asks for %q", calls)
	r := d.does("status", "--limit", "3").is(run.Done).warns("249 more; --limit 0 for all")
	expect.That(t, strings.Count(r.out, "/stable") == 3, "it prints\n%s", r.out)
}

func TestStatus_HasApprovalsAsTheyAreNow(t *testing.T) {
	d := newJudgedDesk(t)
	d.startsJudged(`{"approvals":{"before":[10]}}`, 1)
	d.guardLooks()
	d.does("status", "gateway-x/stable").is(run.Done).says("approval  10 % needs a second person: wavegate approve gateway-x/stable")
	d.as("anna").does("approve", "gateway-x/stable", "--yes").is(run.Done)
	r := d.does("status", "gateway-x/stable").is(run.Done).says("approval  10 % is approved by anna since")
	if strings.Contains(r.out, "guard     Hold: ") && strings.Contains(r.out, "is not approved") {
		t.Errorf("it says of an approved stage that it is not:\n%s", r.out)
	}
	d.does("status").is(run.Done).says("10 % is approved by anna")
}

func TestRoles_WhoMayNot_IsToldWhatTheirRoleIsFor(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	engineer, viewer := d.as("erna", "--role", "production_engineer", "--org", "acme"), d.as("vera", "--role", "platform_viewer", "--org", "acme")
	for _, args := range [][]string{{"status"}, {"status", "gateway-x/stable"}, {"halt", "gateway-x/stable"},
		{"watch", "gateway-x/stable"}, {"log"}} {
		engineer.does(args...).is(run.SignIn).warns("You are erna: a production_engineer works on production methods",
			"ask a platform_owner or a platform_viewer")
	}
	viewer.does("halt", "gateway-x/stable").is(run.SignIn).
		warns("You are vera: a platform_viewer sees everything about boxes and rollouts", "and changes nothing")
	viewer.does("status").is(run.Done).says("gateway-x/stable")
	viewer.does("status", "gateway-x/stable").is(run.Done)
	var p struct{ Code string }
	if viewer.does("halt", "gateway-x/stable", "--json").is(run.SignIn).into(&p); p.Code != "FORBIDDEN" {
		t.Errorf("the problem document has the code %q", p.Code)
	}
	d.stands("active", 1)
}

// TestStatus_OfAnOrganization_ShowsItsBoxesAlone: an admin and a viewer of acme see what a rollout does with acme's boxes, and
// nothing of those of others on the same channel.
func TestStatus_OfAnOrganization_ShowsItsBoxesAlone(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	for id, organization := range map[string]string{"own-1": "acme", "own-2": "acme", "other-1": "rival"} {
		d.does("box", "set", id, "--channel", "gateway-x/stable", "--organization", organization, "--yes").is(run.Done)
	}
	for _, role := range []string{"organization_admin", "fleet_viewer"} {
		t.Run(role, func(t *testing.T) {
			reader := d.as("rita", "--role", role, "--org", "acme").at(t)
			reader.does("status").is(run.Done).says("CHANNEL", "gateway-x/stable", "1.1.0 active", "1 %").not("rival")
			reader.does("status", "gateway-x/stable").is(run.Done).says("2 boxes of acme", "Of the organization's 2 boxes\nthere, it reaches")
			reader.does("boxes", "gateway-x/stable").is(run.Done).says("own-1", "own-2").not("other-1", "rival")
			reader.does("boxes", "gateway-x/stable", "--state", "failed").is(run.Done).warns("no box is failed in the rollout of 1.1.0")
			reader.does("boxes", "gateway-x/canary").is(run.Done).warns("no box is on gateway-x/canary")
			reader.does("why", "own-1").is(run.Done).says("own-1")
			reader.does("why", "other-1").is(run.Refused).warns("NOT_FOUND")
			reader.does("log", "own-1").is(run.Done).says("olga")
			reader.does("status", "gateway-x/canary").is(run.Refused).warns("acme has no box on gateway-x/canary")
			reader.does("halt", "gateway-x/stable", "--yes").is(run.SignIn)
		})
	}
}

// TestStatus_AfterAHaltForSilence_LeadsToTheSilentBoxes, and otherwise to the failed ones.
func TestStatus_AfterAHaltForSilence_LeadsToTheSilentBoxes(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	d.does("halt", "gateway-x/stable").is(run.Done)
	d.does("status", "gateway-x/stable").is(run.Done).says("wavegate boxes gateway-x/stable --state failed")
	d.answers = func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "/progress") {
			return nil, nil
		}
		return answer(r, http.StatusOK, `{"asOf":"2026-11-27T18:00:00Z","staged_percent":1,"stages":[],"silent":{"of":9,"boxes":4}}`, "Content-Type", "application/json"), nil
	}
	d.does("status", "gateway-x/stable").is(run.Done).says("wavegate boxes gateway-x/stable --state silent")
}
