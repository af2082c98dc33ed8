package rollout_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

var ida = audit.Person{Issuer: "https://login.example", UserID: "ida"}

// policy returns a policy that acts and needs approvals before stages.
func policy(before ...int) guard.Policy {
	p := guard.Default()
	p.Mode, p.Approvals.Before = guard.Act, before
	return p
}

// judged returns an active rollout with a policy, started by otto.
func judged(percent int, p guard.Policy) rollout.Rollout {
	r := at(percent, rollout.Active)
	r.Terms = &rollout.Terms{Policy: p, Revision: 1, By: otto}
	return r
}

// closed returns the policy with no window open at the tests' time, noon on a Sunday.
func closed(p guard.Policy) guard.Policy {
	p.Promote.Windows = calendar.Windows{{Days: []string{"mon"}, From: "22:00", To: "04:00", TimeZone: "Europe/Berlin"}}
	return p
}

func TestApprove_WhoAndWhat(t *testing.T) {
	promoted, completed, published := judged(10, policy(10, 50)), judged(10, policy(50)), judged(10, policy(50))
	promoted.PromotedBy = &olga
	completed.Status, completed.CompletedAt = rollout.Completed, &start
	published.Status, published.EndedBy = rollout.Halted, rollout.ByPublication
	changed := judged(1, policy(10))
	changed.Terms.By = ida
	halted := judged(10, policy(50))
	halted.Status = rollout.Halted
	for name, c := range map[string]struct {
		was   rollout.Rollout
		stage int
		by    audit.Person
		code  problem.Code
	}{
		"a second person":            {judged(1, policy(10)), 10, olga, ""},
		"a later stage":              {judged(1, policy(10, 100)), 100, olga, ""},
		"while it is halted":         {halted, 50, olga, ""},
		"who started it":             {judged(1, policy(10)), 10, otto, problem.SelfApproval},
		"who promoted it last":       {promoted, 50, olga, problem.SelfApproval},
		"who changed the policy":     {changed, 10, ida, problem.SelfApproval},
		"the present stage":          {promoted, 10, ida, ""},
		"a stage that was passed":    {judged(50, policy(10)), 10, ida, problem.InvalidStateTransition},
		"a stage that needs none":    {judged(1, policy(50)), 10, olga, problem.InvalidStateTransition},
		"a rollout without a policy": {at(1, rollout.Active), 10, olga, problem.InvalidStateTransition},
		"a completed rollout":        {completed, 50, olga, problem.InvalidStateTransition},
		"ended by a publication":     {published, 50, olga, problem.InvalidStateTransition},
	} {
		later := start.Add(time.Hour)
		next, event, err := c.was.Approve(c.stage, c.by, later)
		if c.code != "" {
			expect.That(t, problem.Has(err, c.code) && reflect.DeepEqual(next, c.was) && event == "",
				"%s: %q, %v; want %s and no change", name, event, err, c.code)
			continue
		}
		if err != nil || event != "RolloutApproved" || next.Revision != c.was.Revision+1 || !slices.Contains(next.Approved(), c.stage) {
			t.Errorf("%s: %q, %v, %v", name, event, err, next.Approved())
		}
		if again, event, err := next.Approve(c.stage, c.by, later); !reflect.DeepEqual(again, next) || event != "" || err != nil {
			t.Errorf("%s: approved twice: %q, %v", name, event, err)
		}
		expect.That(t, len(c.was.Approved()) == 0, "%s: the rollout as it was now has approvals", name)
	}
}

func TestWithPolicy_StagesThatNeedAnApproval_AreNeverTakenAway(t *testing.T) {
	was := judged(10, policy(50))
	for _, before := range [][]int{nil, {10, 100}} {
		if next, _, err := was.WithPolicy(policy(before...), olga, start); !problem.Has(err, problem.InvalidStateTransition) || !reflect.DeepEqual(next, was) {
			t.Errorf("before %v: %v", before, err)
		}
	}
	if next, event, err := was.WithPolicy(policy(50), olga, start); !reflect.DeepEqual(next, was) || event != "" || err != nil {
		t.Errorf("the same policy: %q, %v", event, err)
	}
	next, event, err := was.WithPolicy(policy(50, 100), olga, start)
	if err != nil || event != "RolloutPolicyChanged" || next.Terms.Revision != next.Revision || next.Terms.By != olga {
		t.Errorf("a stage more: %q, %v, %+v", event, err, next.Terms)
	}
	if next, event, err = at(1, rollout.Halted).WithPolicy(policy(10), olga, start); err != nil || event == "" || next.Terms == nil {
		t.Errorf("the first policy, of a halted rollout: %q, %v", event, err)
	}
}

func TestWithPolicy_ClosedWindows_AreNotOpenedAtOnce(t *testing.T) {
	was := judged(10, closed(policy()))
	shifted := closed(policy())
	shifted.Promote.Windows[0].From = "20:00"
	for name, c := range map[string]struct {
		policy guard.Policy
		at     time.Time
		code   problem.Code
	}{
		"windows taken away":            {policy(), start, problem.WindowClosed},
		"other windows that are closed": {shifted, start, ""},
		"while they are open":           {policy(), start.Add(33 * time.Hour), ""},
	} {
		next, event, err := was.WithPolicy(c.policy, olga, c.at)
		if c.code != "" && (!problem.Has(err, c.code) || !reflect.DeepEqual(next, was)) || c.code == "" && (err != nil || event != "RolloutPolicyChanged") {
			t.Errorf("%s: %q, %v", name, event, err)
		}
	}
	_, event, err := judged(10, policy()).WithPolicy(closed(policy()), olga, start)
	expect.That(t, err == nil && event != "", "to close an open window: %q, %v", event, err)
}

func TestWithPolicy_ApprovalsOfStagesAhead_WereGivenToThePolicyBefore(t *testing.T) {
	was := judged(10, policy(10, 50))
	was.Terms.Approvals = []rollout.Approval{{Stage: 10, By: olga}, {Stage: 50, By: olga}}
	next, _, err := was.WithPolicy(policy(10, 50, 100), ida, start)
	if err != nil || !slices.Equal(next.Approved(), []int{10}) || !slices.Equal(was.Approved(), []int{10, 50}) {
		t.Errorf("approved are %v, before %v: %v", next.Approved(), was.Approved(), err)
	}
}

// TestAfter_WhatPeopleHaveSet_HoldsUpRaisesAndResumptions_NeverHalts tries everything that can be set against a move.
func TestAfter_WhatPeopleHaveSet_HoldsUpRaisesAndResumptions_NeverHalts(t *testing.T) {
	frozen := &freeze.Freeze{Reason: "holidays", Until: start.Add(time.Hour)}
	approved := judged(1, closed(policy(10)))
	approved.Terms.Approvals = []rollout.Approval{{Stage: 10, By: ida, At: start}}
	halted := judged(10, closed(policy(50)))
	halted.Status = rollout.Halted
	raise, resume, complete := rollout.Move{StagedPercent: new(10)}, rollout.Move{Status: rollout.Active}, rollout.Move{Status: rollout.Completed}
	both := rollout.Move{StagedPercent: new(10), Status: rollout.Completed}
	halts := []rollout.Move{{Status: rollout.Halted}, {Status: rollout.Halted, StagedPercent: new(10)}}
	for name, c := range map[string]struct {
		was      rollout.Rollout
		move     rollout.Move
		freeze   *freeze.Freeze
		override string
		code     problem.Code
	}{
		"nothing is set":                          {judged(1, policy()), raise, nil, "", ""},
		"frozen":                                  {judged(1, policy()), raise, frozen, "", problem.Frozen},
		"frozen, without a policy":                {at(1, rollout.Active), raise, frozen, "", problem.Frozen},
		"frozen, a reason":                        {at(1, rollout.Active), raise, frozen, "it is urgent", ""},
		"frozen, to resume":                       {halted, resume, frozen, "", problem.Frozen},
		"frozen, to complete":                     {at(10, rollout.Active), complete, frozen, "", ""},
		"frozen, to raise and complete":           {at(1, rollout.Active), both, frozen, "", problem.Frozen},
		"no window open":                          {judged(1, closed(policy())), raise, nil, "", problem.WindowClosed},
		"no window open, a reason":                {judged(1, closed(policy())), raise, nil, "it is urgent", ""},
		"no window open, to resume":               {halted, resume, nil, "", problem.WindowClosed},
		"no window open, a reason to resume":      {halted, resume, nil, "it is urgent", ""},
		"not approved":                            {judged(1, policy(10)), raise, nil, "", problem.ApprovalRequired},
		"not approved, a reason":                  {judged(1, policy(10)), raise, nil, "it is urgent", problem.ApprovalRequired},
		"approved, no window open":                {approved, raise, nil, "", problem.WindowClosed},
		"approved, frozen, no window":             {approved, raise, frozen, "", problem.Frozen},
		"approved, frozen, window, reason":        {approved, raise, frozen, "it is urgent", ""},
		"another stage needs the approval":        {judged(1, policy(50)), raise, nil, "", ""},
		"a stage that is not next":                {judged(1, policy(50)), rollout.Move{StagedPercent: new(50)}, frozen, "", problem.InvalidStateTransition},
		"the present stage, which is not a raise": {judged(10, closed(policy())), raise, frozen, "", ""},
	} {
		now := rollout.Moment{By: olga, At: start, Freeze: c.freeze, Grounds: audit.Grounds{OverrideReason: c.override}}
		next, _, err := c.was.After(c.move, now)
		if c.code == "" && err != nil || c.code != "" && (!problem.Has(err, c.code) || !reflect.DeepEqual(next, c.was)) {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
		for _, halt := range halts {
			next, _, err := c.was.After(halt, now)
			expect.That(t, err == nil && next.Status == rollout.Halted, "%s: a halt: %v", name, err)
		}
	}
}

func TestAfter_APromotersApprovals_DoNotCountForLaterStages(t *testing.T) {
	was := judged(1, policy(10, 50))
	was.Terms.Approvals = []rollout.Approval{{Stage: 10, By: olga}, {Stage: 50, By: olga}}
	next, _, err := was.After(rollout.Move{StagedPercent: new(10)}, rollout.Moment{By: olga, At: start})
	if err != nil || !slices.Equal(next.Approved(), []int{10}) {
		t.Fatalf("approved are %v, %v", next.Approved(), err)
	}
	_, _, err = next.After(rollout.Move{StagedPercent: new(50)}, rollout.Moment{By: ida, At: start})
	expect.That(t, problem.Has(err, problem.ApprovalRequired), "the next stage: %v", err)
}

func TestAfter_Resuming_LetsTheGuardActOnWhatIsNew(t *testing.T) {
	byGuard, _, err := judged(10, policy()).After(rollout.Move{Status: rollout.Halted}, rollout.Moment{By: rollout.Guard, At: start})
	expect.Must(t, err == nil && byGuard.EndedBy == rollout.ByGuard, "ended by %q, %v", byGuard.EndedBy, err)
	byOlga, _, err := judged(10, policy()).After(rollout.Move{Status: rollout.Halted}, rollout.Moment{By: olga, At: start})
	expect.Must(t, err == nil && byOlga.EndedBy == "", "ended by %q, %v", byOlga.EndedBy, err)
	for who, was := range map[string]rollout.Rollout{"the guard": byGuard, "a person": byOlga} {
		next, event, err := was.After(rollout.Move{Status: rollout.Active}, rollout.Moment{By: olga, At: start.Add(time.Hour)})
		if err != nil || event != "RolloutResumed" || next.EndedBy != "" || next.Terms.Policy.Mode != guard.Act || next.ResumedAt == nil || !next.ResumedAt.Equal(start.Add(time.Hour)) || !next.StageSince.Equal(start.Add(time.Hour)) {
			t.Errorf("halted by %s: %q, %v, ended by %q, %s, since %v", who, event, err, next.EndedBy, next.Terms.Policy.Mode, next.StageSince)
		}
	}
}

// TestWithPolicy_NobodyRaisesAloneWhereTwoAreNeeded plays random moves, policies and approvals of three people and the
// guard. No stage in before is ever reached without an approval by a person who, at that time, had not started the
// rollout, promoted it last or changed its policy last. No halt is refused.
func TestWithPolicy_NobodyRaisesAloneWhereTwoAreNeeded(t *testing.T) {
	people := []audit.Person{otto, olga, ida, rollout.Guard}
	rapid.Check(t, func(t *rapid.T) {
		r := judged(1, policy(rapid.SliceOfDistinct(rapid.SampledFrom([]int{10, 50, 100}), rapid.ID[int]).Draw(t, "before")...))
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			by := rapid.SampledFrom(people).Draw(t, "by")
			now := rollout.Moment{By: by, At: start.Add(time.Duration(i) * time.Minute), Grounds: audit.Grounds{OverrideReason: rapid.SampledFrom([]string{"", "urgent"}).Draw(t, "override")}}
			var next rollout.Rollout
			var err error
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				next, _, err = r.WithPolicy(policy(rapid.SliceOfDistinct(rapid.SampledFrom([]int{10, 50, 100}), rapid.ID[int]).Draw(t, "more")...), by, now.At)
			case 1:
				next, _, err = r.Approve(rapid.SampledFrom([]int{10, 50, 100}).Draw(t, "stage"), by, now.At)
				if err == nil && next.Revision != r.Revision && (by == r.StartedBy || r.PromotedBy != nil && by == *r.PromotedBy || by == r.Terms.By) {
					t.Fatalf("%v approved what they steer", by)
				}
			default:
				next, _, err = r.After(drawMove(t), now)
			}
			if err == nil {
				for _, stage := range r.Terms.Policy.Approvals.Before {
					expect.Must(t, slices.Contains(next.Terms.Policy.Approvals.Before, stage),
						"stage %d no longer needs an approval", stage)
				}
				if to := next.StagedPercent; to != r.StagedPercent && slices.Contains(r.Terms.Policy.Approvals.Before, to) &&
					!slices.ContainsFunc(r.Terms.Approvals, func(a rollout.Approval) bool {
						return a.Stage == to && a.By != r.StartedBy && a.By != r.Terms.By && (r.PromotedBy == nil || a.By != *r.PromotedBy)
					}) {
					t.Fatalf("%v raised to %d by the approvals %v", by, to, r.Terms.Approvals)
				}
				r = next
			}
			_, _, err = r.After(rollout.Move{Status: rollout.Halted}, now)
			expect.Must(t, err == nil, "a halt is refused: %v", err)
		}
	})
}

// TestFast_IsForWhatIsUrgentOrForSecurity: whoever starts a rollout or changes its policy.
func TestFast_IsForWhatIsUrgentOrForSecurity(t *testing.T) {
	fast, faults := guard.Parse([]byte(`{"preset":"fast"}`), time.Minute)
	expect.Must(t, len(faults) == 0, "faults %v", faults)
	usual, urgent, security := judged(1, policy()), judged(1, policy()), judged(1, policy())
	urgent.Urgent = true
	security.Kind = release.Security
	for name, c := range map[string]struct {
		of      rollout.Rollout
		refused bool
	}{"usual": {usual, true}, "urgent": {urgent, false}, "for security": {security, false}} {
		next, event, err := c.of.WithPolicy(fast, olga, start.Add(time.Hour))
		expect.That(t, problem.Has(err, problem.Conflict) == c.refused && (event != "") != c.refused && next.Terms.Policy.Hurries() != c.refused, "%s: %q, %v", name, event, err)
	}
}
