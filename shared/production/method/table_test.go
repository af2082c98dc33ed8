package method

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/production/content"
	"wavegate/shared/production/factory"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

var (
	start  = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	author = Signer{Person: audit.Person{Issuer: "https://people.example", UserID: "eric"}, Name: "Eric Berg"}
	other  = Signer{Person: audit.Person{Issuer: "https://people.example", UserID: "anna"}, Name: "Anna Lind"}
)

// made is a content with one step on a class of machines. Each name gives a different content.
func made(name string) content.Content {
	c, faults := content.Parse([]byte(`{"form":1,"basis":{"quantity":1,"unit":"{piece}"},"steps":[{"id":"10","name":"` + name +
		`","equipment":{"class":"mill"},"run":{"time":"PT1M","per":{"quantity":1,"unit":"{piece}"}},"outputs":[{"material":"P","quantity":1,"unit":"{piece}"}]}]}`))
	if len(faults) > 0 {
		panic(fmt.Sprint("method: the test's content has faults: ", faults))
	}
	return c
}

// A walk is a method and its versions, for tests that make moves one after the other.
type walk struct {
	t        *testing.T
	method   Method
	versions map[int64]Version
	now      time.Time
}

func begin(t *testing.T) *walk {
	m := Creation{"product", "Milling"}.create("m", "munich-1", start)
	return &walk{t: t, method: m, versions: map[int64]Version{}, now: start}
}

func (w *walk) tick() time.Time { w.now = w.now.Add(time.Minute); return w.now }

func (w *walk) take(o Result, err error) string {
	w.t.Helper()
	if err != nil {
		return string(problem.From(err).Code)
	}
	if o.Event == "" {
		return "nothing"
	}
	w.method = o.Method
	w.versions[o.Version.Version] = o.Version
	return string(o.Version.Status)
}

func (w *walk) save(number int64, name string, by Signer) string {
	w.t.Helper()
	return w.take(w.method.Save(w.versions[number], number, made(name), by.Person, w.tick()))
}

func (w *walk) move(number int64, move Move, by Signer) string {
	w.t.Helper()
	return w.take(w.method.Move(w.versions[number], w.versions[move.Reinstate], move, by, factory.FourEyes, w.tick()))
}

// to returns a move with all required fields.
func (w *walk) to(number int64, status Status) Move {
	m := Move{Status: status, Reason: "test"}
	switch status {
	case Trial:
		m.ContentSHA256, m.Machines = w.versions[number].ContentSHA256, []string{"mill-1"}
	case Released:
		m.ContentSHA256, m.FirstArticle = w.versions[number].ContentSHA256, &FirstArticle{Reference: "FAI-1"}
	}
	return m
}

// reach moves version 1 to a status.
func reach(t *testing.T, status Status) *walk {
	w := begin(t)
	must := func(got string, want Status) {
		t.Helper()
		expect.Must(t, got == string(want), "%s, want %s", got, want)
	}
	if status == "" {
		return w
	}
	must(w.save(1, "a", author), Draft)
	if status == Draft {
		return w
	}
	must(w.move(1, w.to(1, InReview), author), InReview)
	if status == InReview {
		return w
	}
	must(w.move(1, w.to(1, status), other), status)
	return w
}

// TestMove_EveryStatusAndPerson_UnderBothPolicies makes each move to another status, by the author
// of the version and by another person, under both policies.
func TestMove_EveryStatusAndPerson_UnderBothPolicies(t *testing.T) {
	for _, row := range []struct {
		from Status
		to   []Status // that others can move it to
		save string
	}{
		{"", nil, "draft"},
		{Draft, []Status{InReview, Withdrawn}, "draft"},
		{InReview, []Status{Draft, Trial, Released, Withdrawn}, "VERSION_FROZEN"},
		{Trial, []Status{Released, Withdrawn}, "VERSION_FROZEN"},
		{Released, []Status{Withdrawn}, "VERSION_FROZEN"},
		{Withdrawn, nil, "VERSION_FROZEN"},
	} {
		for _, by := range []Signer{author, other} {
			for _, policy := range []factory.ApprovalPolicy{factory.FourEyes, factory.Single} {
				name := fmt.Sprintf("%s by %s under %s", row.from, by.UserID, policy)
				w := reach(t, row.from)
				if got := w.take(w.method.Save(w.versions[1], 1, made("b"), by.Person, w.tick())); got != row.save {
					t.Errorf("save of %s: %s, want %s", name, got, row.save)
				}
				for _, status := range Statuses {
					if row.from == "" || status == row.from {
						continue
					}
					want := "INVALID_STATE_TRANSITION"
					if slices.Contains(row.to, status) {
						want = string(status)
						if (status == Trial || status == Released) && by.Person == author.Person && policy == factory.FourEyes {
							want = "SELF_APPROVAL"
						}
					}
					w := reach(t, row.from)
					got := w.take(w.method.Move(w.versions[1], Version{}, w.to(1, status), by, policy, w.tick()))
					expect.That(t, got == want, "%s of %s: %s, want %s", status, name, got, want)
				}
			}
		}
	}
}

func TestSave_Numbers_HaveNoGapAndAreNeverReused(t *testing.T) {
	w := begin(t)
	expect.Equal(t, w.save(2, "a", author), "NOT_FOUND", "version 2 first:")
	w.save(1, "a", author)
	expect.Equal(t, w.save(2, "b", author), "VERSION_OPEN", "a second draft:")
	expect.Equal(t, w.save(3, "b", author), "NOT_FOUND", "version 3 after 1:")
	w.move(1, w.to(1, InReview), author)
	expect.Equal(t, w.save(2, "b", author), "VERSION_OPEN", "a draft beside a review:")
	w.move(1, w.to(1, Withdrawn), author)
	expect.Equal(t, w.save(1, "b", author), "VERSION_FROZEN", "version 1 again:")
	if got := w.save(2, "b", author); got != "draft" || w.method.Latest.Version != 2 {
		t.Errorf("version 2 after a withdrawal: %s", got)
	}
	if got := w.save(2, "b", other); got != "nothing" || len(w.versions[2].Authors) != 1 {
		t.Errorf("the same content again: %s, authors %v", got, w.versions[2].Authors)
	}
}

func TestSave_WhenRefused_AdvisesWhatIsPossible(t *testing.T) {
	for status, says := range map[Status]string{
		InReview:  "Version 1 is in review, and only a draft can be saved. Return it to draft first.",
		Trial:     "Version 1 is on trial, and only a draft can be saved. Save the content as a new version.",
		Released:  "Version 1 is released, and only a draft can be saved. Save the content as a new version.",
		Withdrawn: "Version 1 is withdrawn, and only a draft can be saved. Save the content as a new version.",
	} {
		w := reach(t, status)
		_, err := w.method.Save(w.versions[1], 1, made("b"), author.Person, w.tick())
		isRefused(t, err, problem.VersionFrozen, says)
		if _, err := w.method.Save(Version{}, 2, made("b"), author.Person, w.tick()); status != InReview && err != nil {
			t.Errorf("version 1 is %s: %v", status, err)
		}
	}
	for status, says := range map[Status]string{
		Draft:    "Version 1 is a draft. Continue with it, or withdraw it before you begin another.",
		InReview: "Version 1 is in review. Put it on trial, release it or withdraw it before you begin another.",
	} {
		w := reach(t, status)
		_, err := w.method.Save(Version{}, 2, made("b"), author.Person, w.tick())
		isRefused(t, err, problem.VersionOpen, says)
	}
}

func isRefused(t *testing.T, err error, code problem.Code, detail string) {
	t.Helper()
	p := problem.From(err)
	expect.That(t, p.Code == code && p.Detail == detail, "%s: %s\nwant %s: %s", p.Code, p.Detail, code, detail)
}

// After the approver has read the content and before the approver signs, the version goes back
// to draft, is changed and is submitted again.
func TestMove_ContentChangedBetweenReadAndSign_IsRefused(t *testing.T) {
	w := reach(t, InReview)
	read := w.to(1, Released)
	w.move(1, w.to(1, Draft), other)
	w.save(1, "b", author)
	w.move(1, w.to(1, InReview), author)
	expect.Equal(t, w.move(1, read, other), "CONTENT_CHANGED", "signed what was not read:")
	got := w.move(1, Move{Status: Released, Reason: "r"}, other)
	expect.That(t, got == "VALIDATION_FAILED", "signed without naming the content: %s", got)
	expect.Equal(t, w.move(1, w.to(1, Released), other), "released", "after reading again:")
}

func TestMove_Signatures_NameThePersonAndTheMeaning(t *testing.T) {
	w := reach(t, Trial)
	w.move(1, w.to(1, Released), other)
	w.move(1, Move{Status: Withdrawn, Reason: "bores too large", Orders: Finish}, author)
	var got []string
	for _, s := range w.versions[1].Signatures {
		got = append(got, string(s.Meaning)+" "+s.UserID)
		expect.That(t, s.ContentSHA256 == made("a").SHA256() && !s.At.IsZero() && s.Reason != "" && s.Name != "",
			"signature %+v", s)
	}
	want := "authorship eric,approval anna,approval anna,responsibility eric"
	expect.That(t, strings.Join(got, ",") == want, "got %q", got)
	if v := w.versions[1]; v.Orders != Finish || w.method.Withdrawals[0].Orders != Finish || v.FirstArticle.Reference != "FAI-1" {
		t.Errorf("version %+v", v)
	}
	w = reach(t, InReview)
	w.move(1, w.to(1, Draft), other)
	s := w.versions[1].Signatures
	expect.That(t, len(s) == 0, "a return to draft kept %v", s)
	if got := w.versions[1].Authors; len(got) != 1 {
		t.Errorf("the person who returned it became an author: %v", got)
	}
}

func TestMove_SubmitterOfAnothersDraft_IsAnAuthor(t *testing.T) {
	w := reach(t, Draft)
	w.move(1, w.to(1, InReview), other)
	expect.Equal(t, w.move(1, w.to(1, Released), other), "SELF_APPROVAL", "the submitter released:")
}

func TestMove_ReleaseAfterTrial_NeedsAFirstArticle(t *testing.T) {
	w := reach(t, Trial)
	move := w.to(1, Released)
	move.FirstArticle = nil
	expect.Equal(t, w.move(1, move, other), "VALIDATION_FAILED", "without one:")
	w = reach(t, InReview)
	move.FirstArticle = nil
	expect.Equal(t, w.move(1, move, other), "released", "without a trial before:")
}

func TestMove_Bounds(t *testing.T) {
	w := reach(t, Trial)
	for i := range 40 {
		move := w.to(1, Trial)
		move.Machines = []string{fmt.Sprintf("m-%d", i)}
		if got := w.move(1, move, other); got != "trial" && got != "EFFECTIVITY_FULL" {
			t.Fatalf("trial %d: %s", i, got)
		}
	}
	n := len(w.versions[1].Signatures)
	expect.That(t, n == maxSignatures, "%d signatures", n)
	expect.Equal(t, w.move(1, w.to(1, Released), other), "released", "the release after many trials:")
	withdrawn := w.to(1, Withdrawn)
	withdrawn.Orders = Finish
	expect.Equal(t, w.move(1, withdrawn, other), "withdrawn", "the withdrawal after many signatures:")
	got := w.move(1, w.to(1, Withdrawn), author)
	expect.That(t, got == "withdrawn" && w.versions[1].Orders == Stop, "the order to stop after many signatures: %s", got)
	expect.Equal(t, w.move(1, w.to(1, Withdrawn), other), "EFFECTIVITY_FULL", "a signature too many:")
	w = begin(t)
	for i := range maxAuthors {
		w.save(1, fmt.Sprint("x", i), Signer{Person: audit.Person{Issuer: "i", UserID: fmt.Sprint(i)}})
	}
	expect.Equal(t, w.save(1, "last", other), "CONFLICT", "an author too many:")
}
