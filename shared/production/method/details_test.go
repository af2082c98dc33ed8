package method

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// soon and late are times after all moves of the tests below.
var soon, late = start.AddDate(0, 1, 0), start.AddDate(0, 2, 0)

var third = Signer{Person: audit.Person{Issuer: "https://people.example", UserID: "otto"}, Name: "Otto Ek"}

// details are the states in which version 2 of a method can be. Version 1 was released before.
var details = []struct {
	name  string
	reach func(*walk)
}{
	{"draft", func(*walk) {}},
	{"in review", func(w *walk) { w.submit(2) }},
	{"trial", func(w *walk) { w.submit(2); w.must(2, w.trial()) }},
	{"scheduled trial", func(w *walk) { w.submit(2); w.must(2, from(w.trial(), soon)) }},
	{"released", func(w *walk) { w.submit(2); w.must(2, w.released()) }},
	{"scheduled release", func(w *walk) { w.submit(2); w.must(2, from(w.released(), soon)) }},
	{"superseded", func(w *walk) {
		w.submit(2)
		w.must(2, w.released())
		w.save(3, "c", author)
		w.submit(3)
		w.must(3, w.to(3, Released))
	}},
	{"superseded by time", func(w *walk) { w.submit(2); w.must(2, w.released()); w.overtaken() }},
	{"trial superseded by time", func(w *walk) { w.submit(2); w.must(2, w.trial()); w.overtaken() }},
	{"withdrawn, finish", func(w *walk) { w.submit(2); w.must(2, w.released()); w.must(2, orders(Finish)) }},
	{"withdrawn, stop", func(w *walk) { w.submit(2); w.must(2, w.released()); w.must(2, orders(Stop)) }},
	{"version 1 reinstated", func(w *walk) { w.submit(2); w.must(2, w.released()); w.must(2, reinstate(orders(Stop), 1)) }},
}

// wishes are the moves, each with the same details as in the states above, or with others.
var wishes = []struct {
	name string
	by   Signer
	move func(*walk) Move
}{
	{"submit", author, func(w *walk) Move { return w.to(2, InReview) }},
	{"submit, another person", third, func(w *walk) Move { return w.to(2, InReview) }},
	{"return", other, func(w *walk) Move { return w.to(2, Draft) }},
	{"trial now", other, func(w *walk) Move { return w.trial() }},
	{"trial, another approver", third, func(w *walk) Move { return w.trial() }},
	{"trial on fewer machines", other, func(w *walk) Move { return on(w.trial(), "mill-1") }},
	{"trial on more machines", other, func(w *walk) Move { return on(w.trial(), "mill-1", "mill-2", "mill-3") }},
	{"trial starting soon", other, func(w *walk) Move { return from(w.trial(), soon) }},
	{"trial starting later", other, func(w *walk) Move { return from(w.trial(), late) }},
	{"release now", other, func(w *walk) Move { return w.released() }},
	{"release, another approver", third, func(w *walk) Move { return w.released() }},
	{"release, another first article", other, func(w *walk) Move {
		m := w.released()
		m.FirstArticle = &FirstArticle{Reference: "FAI-2"}
		return m
	}},
	{"release starting soon", other, func(w *walk) Move { return from(w.released(), soon) }},
	{"release starting later", other, func(w *walk) Move { return from(w.released(), late) }},
	{"release by its author", author, func(w *walk) Move { return w.released() }},
	{"withdraw, finish", other, func(*walk) Move { return orders(Finish) }},
	{"withdraw, stop", other, func(*walk) Move { return orders(Stop) }},
	{"withdraw, stop, other reason", other, func(*walk) Move {
		m := orders(Stop)
		m.Reason = "danger"
		return m
	}},
	{"withdraw, reinstate 1", other, func(*walk) Move { return reinstate(orders(Stop), 1) }},
	{"withdraw, reinstate 9", other, func(*walk) Move { return reinstate(orders(Stop), 9) }},
}

// overtaken lets a scheduled release of version 3 take over.
func (w *walk) overtaken() {
	w.save(3, "c", author)
	w.submit(3)
	w.must(3, from(w.to(3, Released), w.now.Add(time.Hour)))
	w.now = w.now.Add(2 * time.Hour)
}

func (w *walk) submit(number int64) { w.mustBy(number, w.to(number, InReview), author) }

func (w *walk) must(number int64, m Move) { w.mustBy(number, m, other) }

func (w *walk) mustBy(number int64, m Move, by Signer) {
	w.t.Helper()
	if got := w.move(number, m, by); got != string(m.Status) {
		w.t.Fatalf("version %d to %s: %s", number, m.Status, got)
	}
}

func (w *walk) trial() Move { return on(w.to(2, Trial), "mill-1", "mill-2") }

func (w *walk) released() Move { return w.to(2, Released) }

func on(m Move, machines ...string) Move { m.Machines = machines; return m }

func from(m Move, t time.Time) Move { m.EffectiveFrom = t; return m }

func orders(o Orders) Move { return Move{Status: Withdrawn, Reason: "test", Orders: o} }

func reinstate(m Move, number int64) Move { m.Reinstate = number; return m }

// TestMove_EveryStateAndDetail_DoesWhatItSaysOrIsRefused makes the table of details, and compares it with ../README.md.
// It also compares each result with the request.
func TestMove_EveryStateAndDetail_DoesWhatItSaysOrIsRefused(t *testing.T) {
	var table strings.Builder
	table.WriteString("| |")
	for _, state := range details {
		table.WriteString(" " + state.name + " |")
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(details)) + "\n")
	for _, wish := range wishes {
		table.WriteString("| " + wish.name + " |")
		for _, state := range details {
			w := reach(t, Released)
			w.save(2, "b", author)
			state.reach(w)
			move := wish.move(w)
			at := w.tick()
			o, err := w.method.Move(w.versions[2], w.versions[move.Reinstate], move, wish.by, factory.FourEyes, at)
			if fault := contradicts(o, move, wish.by, at, "mill-1", "mill-2", "mill-3", "mill-4"); err == nil && fault != "" {
				t.Errorf("%s of %s: %s", wish.name, state.name, fault)
			}
			table.WriteString(" " + cell(o, err) + " |")
		}
		table.WriteString("\n")
	}
	page := expect.Value(os.ReadFile(filepath.Join("..", "README.md")))(t)
	expect.That(t, strings.Contains(string(page), "\n"+table.String()+"\n"),
		"shared/production/README.md does not have this table:\n%s", table.String())
}

func cell(o Result, err error) string {
	switch {
	case err != nil:
		return fmt.Sprint(problem.ClassOf(problem.From(err).Code).Status)
	case o.Event == "":
		return "same"
	case o.Event == cosigned:
		return "signed"
	}
	return "moved"
}

// contradicts says how an outcome differs from the move's request, or nothing. Effectivity.At is the only rule that it
// uses. The last of the machines has no trial.
func contradicts(o Result, m Move, by Signer, at time.Time, machines ...string) string {
	v := o.Version
	if v.Status != m.Status {
		return fmt.Sprintf("the status is %s", v.Status)
	}
	if m.Status != Draft {
		signed := false
		for _, s := range v.Signatures {
			signed = signed || s.UserID == by.UserID && s.Reason == m.Reason && s.ContentSHA256 == v.ContentSHA256
		}
		if !signed {
			return "the signature is missing"
		}
	}
	from := m.EffectiveFrom
	if from.IsZero() {
		from = at
	}
	untried := machines[len(machines)-1]
	holds := func(machine string) int64 { d, _ := o.Method.Effectivity.At(machine, from); return d.Version }
	switch m.Status {
	case Trial:
		for _, machine := range machines {
			if got := holds(machine); (got == v.Version) != slices.Contains(m.Machines, machine) {
				return fmt.Sprintf("version %d is on %s", got, machine)
			}
			if d, held := o.Method.Effectivity.At(machine, at); held && d.Version == v.Version && from.After(at) {
				return "it holds before its time"
			}
		}
	case Released:
		if got := holds(untried); got != v.Version {
			return fmt.Sprintf("version %d holds", got)
		}
		if d, held := o.Method.Effectivity.At(untried, at); held && d.Version == v.Version && from.After(at) {
			return "it holds before its time"
		}
		if m.FirstArticle != nil && (v.FirstArticle == nil || *v.FirstArticle != *m.FirstArticle) {
			return "the first article is a different one"
		}
	case Withdrawn:
		if m.Orders != "" && v.Orders != m.Orders {
			return fmt.Sprintf("the orders are %s", v.Orders)
		}
		if m.Reinstate > 0 && holds(untried) != m.Reinstate {
			return "nothing is reinstated"
		}
		for _, d := range o.Method.Effectivity {
			if d.Version == v.Version {
				return "it still holds"
			}
		}
		told := slices.ContainsFunc(o.Method.Withdrawals, func(w Withdrawal) bool { return w.Version == v.Version && w.Orders == v.Orders })
		if v.approvedOnce() && !told && len(o.Method.Withdrawals) < maxWithdrawals {
			return fmt.Sprintf("machines are told %+v", o.Method.Withdrawals)
		}
	}
	return ""
}

func TestMove_TwoApprovers_BothSign(t *testing.T) {
	w := reach(t, InReview)
	w.must(1, w.to(1, Released))
	w.mustBy(1, w.to(1, Released), third)
	expect.Equal(t, w.move(1, w.to(1, Released), third), "nothing", "repeated:")
	n := len(w.versions[1].Signatures)
	expect.That(t, n == 3 && w.versions[1].Signatures[2].Further, "signatures %+v", w.versions[1].Signatures)
}

// An approver signed the trial, and another person the release. The first one's signature of the
// release is another, even if the reason is the same.
func TestMove_SignatureOfAnEarlierMove_IsNoSignatureOfThisOne(t *testing.T) {
	w := reach(t, Trial)
	w.mustBy(1, w.to(1, Released), third)
	w.must(1, w.to(1, Released))
	expect.That(t, len(w.versions[1].Signatures) == 4, "signatures %+v", w.versions[1].Signatures)
}

// A scheduled release was approved for a later time. One person alone cannot begin it earlier.
func TestMove_ReinstateBeforeItsTime_IsRefused(t *testing.T) {
	w := reach(t, InReview)
	w.must(1, from(w.to(1, Released), late))
	w.save(2, "b", author)
	expect.Equal(t, w.move(2, reinstate(orders(Stop), 1), author), "INVALID_STATE_TRANSITION", "got")
}

// After a withdrawal, the version before can be released again by a second person.
func TestMove_SupersededVersion_CanBeReleasedAgainOnceNothingNewerIs(t *testing.T) {
	w := reach(t, Released)
	w.save(2, "b", author)
	w.submit(2)
	w.must(2, w.to(2, Released))
	w.must(2, orders(Stop))
	expect.Equal(t, w.move(1, w.to(1, Released), author), "SELF_APPROVAL", "by its author:")
	w.must(1, w.to(1, Released))
	got := w.method.Effectivity.versionAt("mill-9", w.now)
	expect.That(t, got == 1, "version %d holds", got)
}
