package enrolment_test

import (
	"sync"
	"testing"

	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// together runs functions at the same time.
func together(all ...func()) {
	var group sync.WaitGroup
	for _, one := range all {
		group.Go(one)
	}
	group.Wait()
}

const rounds = 20

func TestRace_TwoHashesForOneID_ExactlyOneWins(t *testing.T) {
	each(t, func(w *world) {
		for range rounds {
			w.box += "x"
			w.id, w.code = w.enrolment(w.box)
			var outcomes [2]enrolment.Outcome
			var errs [2]error
			together(
				func() { outcomes[0], errs[0] = w.redeem(w.box, hash(0)) },
				func() { outcomes[1], errs[1] = w.redeem(w.box, hash(1)) })
			winner := 0
			if errs[0] != nil {
				winner = 1
			}
			if errs[winner] != nil || outcomes[winner] != enrolment.Enrols || !problem.Has(errs[1-winner], problem.EdgeEnrolled) {
				t.Fatal(outcomes, errs)
			}
			if is := w.stored(w.box); is.Edge.Revision != 1 || !is.Row.Tokens.Accepts(hash(winner), w.now) || is.Row.Tokens.Accepts(hash(1-winner), w.now) {
				t.Fatalf("%d won, and stored is %+v", winner, is)
			}
		}
	})
}

// TestRace_RedemptionAgainstARegistration: either the code came first, and the owner then moved its box, or the owner did, and
// the box is refused.
func TestRace_RedemptionAgainstARegistration(t *testing.T) {
	each(t, func(w *world) {
		for range rounds {
			w.box += "x"
			w.id, w.code = w.enrolment(w.box)
			var redeemed, registered error
			together(
				func() { _, redeemed = w.redeem(w.box, hash(1)) },
				func() { registered = w.register(w.box) })
			is := w.stored(w.box)
			first := redeemed == nil && is.Edge.EnrolmentID == w.id && is.Edge.Revision == 2 && is.Row.Tokens.Accepts(hash(1), w.now)
			second := problem.Has(redeemed, problem.EdgeEnrolled) && is.Edge.EnrolmentID == "" && !is.Row.Tokens.Exists()
			if registered != nil || is.Edge.Channel != "canary" || first == second {
				t.Fatalf("redeemed %v, registered %v, stored %+v", redeemed, registered, is)
			}
		}
	})
}

// TestRace_RedemptionAgainstTheEnd: a call that begins after the end is refused.
func TestRace_RedemptionAgainstTheEnd(t *testing.T) {
	each(t, func(w *world) {
		for range rounds {
			w.box += "x"
			w.id, w.code = w.enrolment(w.box)
			var redeemed, ended error
			together(
				func() { _, redeemed = w.redeem(w.box, hash(1)) },
				func() { ended = w.enrolments.End(w.ctx(), audit.Origin{}, admin, w.id) })
			if ended != nil || redeemed != nil && !problem.Has(redeemed, problem.Unauthenticated) || (redeemed == nil) != w.stored(w.box).Edge.Exists() {
				t.Fatal(redeemed, ended)
			}
			if _, err := w.redeem(w.box, hash(1)); !problem.Has(err, problem.Unauthenticated) {
				t.Fatal("after the end:", err)
			}
		}
	})
}

// TestRace_RedemptionOfANewBoardAgainstAReset: it is refused before the reset, and registered after it. The two tokens
// are never both valid.
func TestRace_RedemptionOfANewBoardAgainstAReset(t *testing.T) {
	each(t, func(w *world) {
		for range rounds {
			w.box += "x"
			w.id, w.code = w.enrolment(w.box)
			w.must(enrolment.Enrols, w.box, hash(1))
			var redeemed, reset error
			together(
				func() { _, redeemed = w.redeem(w.box, hash(2)) },
				func() { reset = w.enrolments.Reset(w.ctx(), audit.Origin{}, admin, w.id, w.box) })
			is := w.stored(w.box)
			if reset != nil || redeemed != nil && !problem.Has(redeemed, problem.EdgeEnrolled) || is.Row.Tokens.Accepts(hash(1), w.now) ||
				(redeemed == nil) != is.Row.Tokens.Accepts(hash(2), w.now) {
				t.Fatalf("redeemed %v, reset %v, stored %+v", redeemed, reset, is)
			}
		}
	})
}
