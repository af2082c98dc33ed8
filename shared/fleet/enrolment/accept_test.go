package enrolment_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

func TestAccept_BoxThatWaits_IsRegisteredWithTheHashThatWasSeen(t *testing.T) {
	each(t, func(w *world) {
		stranger := w.box + "-b"
		seen, swapped := enrolment.Pair{EdgeID: stranger, TokenSHA256: hash(1)}, enrolment.Pair{EdgeID: stranger, TokenSHA256: hash(2)}
		w.must(enrolment.Waits, stranger, seen.TokenSHA256)
		w.now = w.now.Add(time.Second)
		w.must(enrolment.Waits, stranger, swapped.TokenSHA256)
		w.must(enrolment.Waits, stranger, seen.TokenSHA256)
		if d := w.details(); len(d.Waiting) != 2 || d.Waiting[0].TokenSHA256 != swapped.TokenSHA256 || d.Waiting[1].TokenSHA256 != seen.TokenSHA256 {
			t.Fatalf("waiting: %+v", d.Waiting)
		}
		for range 2 { // a person who gets no answer tries again
			expect.OK(t, w.accept(seen))
		}
		w.must(enrolment.Again, stranger, seen.TokenSHA256)
		if _, err := w.redeem(stranger, swapped.TokenSHA256); !problem.Has(err, problem.EdgeEnrolled) {
			t.Error(err)
		}
		err := w.accept(swapped)
		expect.That(t, problem.Has(err, problem.EdgeEnrolled), "%v", err)
		d := w.details()
		expect.That(t, len(d.Waiting) == 0 && len(d.Redemptions) == 1 && d.Accepted == 1, "shown %+v", d)
	})
}

func TestAccept_SomeBoxesDoNotWait_NothingIsRegisteredAndEachIsNamed(t *testing.T) {
	each(t, func(w *world) {
		w.must(enrolment.Waits, w.box+"-b", hash(1))
		err := w.accept(
			enrolment.Pair{EdgeID: w.box + "-b", TokenSHA256: hash(1)},
			enrolment.Pair{EdgeID: w.box + "-b2", TokenSHA256: hash(1)},
			enrolment.Pair{EdgeID: w.box, TokenSHA256: hash(1)},
		)
		p, ok := errors.AsType[*problem.Error](err)
		if !ok || p.Code != problem.Conflict || len(p.Faults) != 2 || p.Faults[0].Pointer != "/items/1" || p.Faults[1].Pointer != "/items/2" {
			t.Fatalf("got %+v", p)
		}
		expect.That(t, !w.stored(w.box+"-b").Edge.Exists(), "one was registered")
	})
}

// TestAccept_AnIDThatDoesNotWait_SaysNothingOfItsBox, which may belong to another organization.
func TestAccept_AnIDThatDoesNotWait_SaysNothingOfItsBox(t *testing.T) {
	each(t, func(w *world) {
		free := w.accept(enrolment.Pair{EdgeID: w.box, TokenSHA256: hash(1)})
		expect.OK(t, w.register(w.box))
		taken := w.accept(enrolment.Pair{EdgeID: w.box, TokenSHA256: hash(1)})
		expect.That(t, problem.Has(taken, problem.Conflict) && fmt.Sprint(free) == fmt.Sprint(taken),
			"free: %v, taken: %v", free, taken)
	})
}

func TestAccept_EnrolmentHasEnded_IsAConflict(t *testing.T) {
	each(t, func(w *world) {
		w.must(enrolment.Waits, w.box+"-b", hash(1))
		w.now = w.now.Add(time.Hour)
		err := w.accept(enrolment.Pair{EdgeID: w.box + "-b", TokenSHA256: hash(1)})
		expect.That(t, problem.Has(err, problem.Conflict), "%v", err)
	})
}

// TestAccept_ThirtyBoxes_FitIntoOneTransaction: more than thirty need not fit.
func TestAccept_ThirtyBoxes_FitIntoOneTransaction(t *testing.T) {
	each(t, func(w *world) {
		var pairs []enrolment.Pair
		for n := range enrolment.MostAtOnce {
			pairs = append(pairs, enrolment.Pair{EdgeID: fmt.Sprintf("%s-%d", w.box, n), TokenSHA256: hash(n)})
			w.must(enrolment.Waits, pairs[n].EdgeID, pairs[n].TokenSHA256)
		}
		expect.OK(t, w.accept(pairs...))
		if d := w.details(); len(d.Redemptions) != len(pairs) || d.Accepted != len(pairs) {
			t.Errorf("%d redemptions, %d accepted", len(d.Redemptions), d.Accepted)
		}
	})
}

// TestWaiting_MoreThanAThousand_DisplaceOnlyTheirNetworks: 998 made-up boxes wait, and a real one of another network. More
// made-up ones are refused, and boxes of other networks displace the oldest made-up ones.
func TestWaiting_MoreThanAThousand_DisplaceOnlyTheirNetworks(t *testing.T) {
	const attacker, plant, other = "203.0.113.7", "198.51.100.1", "2001:db8:1::1"
	each(t, func(w *world) {
		name := func(n int) string { return fmt.Sprintf("%s-%d", w.box, n) }
		from := func(address, id string) (enrolment.Outcome, error) {
			w.now = w.now.Add(time.Millisecond)
			return w.redeemFrom(address, id, hash(1))
		}
		must := func(address, id string) {
			w.Helper()
			got := expect.Value(from(address, id))(w)
			expect.Equal(w, got, enrolment.Waits, "%s from %s", id, address)
		}
		must(plant, "real")
		var all []enrolment.Waiting
		for n := range enrolment.MostBoxes - 2 {
			all = append(all, enrolment.Waiting{EdgeID: name(n), TokenSHA256: hash(1), Since: w.now.Add(time.Duration(n+1) * time.Millisecond),
				Network: enrolment.NetworkOf(attacker)})
		}
		expect.OK(t, w.enrolments.Fill(w.ctx(), w.details().Enrolment, all))
		w.now = w.now.Add(time.Minute)

		must(attacker, "last") // the thousandth
		for i := range 3 {
			must(other, fmt.Sprintf("other-%d", i))
		}
		must(other, "other-0")
		d := w.details()
		expect.Equal(t, len(d.Waiting), enrolment.MostBoxes, "boxes that wait")
		expect.Equal(t, []string{d.Waiting[0].EdgeID, d.Waiting[enrolment.MostBoxes-2].EdgeID, d.Waiting[enrolment.MostBoxes-1].EdgeID},
			[]string{"other-2", name(3), "real"}, "the newest and the oldest")
		for _, displaced := range []int{0, 1, 2} {
			if slices.ContainsFunc(d.Waiting, func(w enrolment.Waiting) bool { return w.EdgeID == name(displaced) }) {
				t.Errorf("%s still waits", name(displaced))
			}
		}
		for i := range 2 {
			_, err := from(attacker, fmt.Sprintf("made-up-%d", i))
			expect.That(t, problem.Has(err, problem.Conflict), "%v", err)
		}
		err := w.accept(enrolment.Pair{EdgeID: name(1), TokenSHA256: hash(1)})
		expect.That(t, problem.Has(err, problem.Conflict), "%v", err)
		expect.OK(t, w.accept(enrolment.Pair{EdgeID: "real", TokenSHA256: hash(1)}))
	})
}
