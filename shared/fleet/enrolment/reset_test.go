package enrolment_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

func (w *world) reset(id string) error {
	return w.enrolments.Reset(w.ctx(), audit.Origin{}, admin, w.id, id)
}

func (w *world) retire() error {
	return w.edges.Retire(w.ctx(), audit.Origin{}, w.box, input.Preconditions{})
}

func (w *world) end() error {
	return w.edges.EndTokens(w.ctx(), audit.Origin{}, w.box, input.Preconditions{})
}

// TestReset_TokensOfBefore_AreRefusedForGood: whoever has an old token and the code must not be faster than the new board.
func TestReset_TokensOfBefore_AreRefusedForGood(t *testing.T) {
	for name, before := range map[string]func(w *world) error{
		"registered":      func(*world) error { return nil },
		"retired":         func(w *world) error { return w.retire() },
		"its token ended": func(w *world) error { return w.end() },
		"ended, then retired": func(w *world) error {
			return errors.Join(w.end(), w.retire())
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.must(enrolment.Enrols, w.box, hash(1))
				expect.OK(t, errors.Join(before(w), w.reset(w.box)))
				refused := func() {
					t.Helper()
					_, err := w.redeem(w.box, hash(1))
					if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != problem.EdgeEnrolled || p.Detail != enrolment.OldToken {
						t.Errorf("got %v", err)
					}
				}
				refused()
				expect.Must(t, !w.stored(w.box).Edge.Exists(), "the old token has the id")
				d := w.details()
				expect.That(t, d.RefusedFor == w.box, "the enrolment is %+v", d.Enrolment)
				w.must(enrolment.Enrols, w.box, hash(2))
				expect.OK(t, w.reset(w.box))
				refused()
				w.id, w.code = w.enrolment(w.box)
				refused()
				_, err := w.redeem(w.box, hash(2))
				expect.That(t, problem.Has(err, problem.EdgeEnrolled), "the second token: %v", err)
				w.must(enrolment.Enrols, w.box, hash(3))
				refused()
			})
		})
	}
}

// TestReset_OldTokenThatWaits_IsNotAccepted: a person may have seen its hash before the reset.
func TestReset_OldTokenThatWaits_IsNotAccepted(t *testing.T) {
	each(t, func(w *world) {
		stranger, first, second := w.box+"-b", hash(1), hash(2)
		w.must(enrolment.Waits, stranger, first)
		w.must(enrolment.Waits, stranger, second)
		expect.OK(t, errors.Join(w.accept(enrolment.Pair{EdgeID: stranger, TokenSHA256: first}), w.reset(stranger)))
		if err := w.accept(enrolment.Pair{EdgeID: stranger, TokenSHA256: first}); !problem.Has(err, problem.EdgeEnrolled) {
			t.Error(err)
		}
		if _, err := w.redeem(stranger, first); !problem.Has(err, problem.EdgeEnrolled) {
			t.Error(err)
		}
		err := w.accept(enrolment.Pair{EdgeID: stranger, TokenSHA256: second})
		expect.That(t, err == nil, "%v", err)
	})
}

// TestRetired_WithoutAReset_MayEnrolWithItsTokenByANewEnrolment: an admin who lists it again wants it back as it is.
func TestRetired_WithoutAReset_MayEnrolWithItsTokenByANewEnrolment(t *testing.T) {
	each(t, func(w *world) {
		w.must(enrolment.Enrols, w.box, hash(1))
		expect.OK(t, w.retire())
		w.now = w.now.Add(time.Second)
		w.id, w.code = w.enrolment(w.box)
		w.must(enrolment.Enrols, w.box, hash(1))
	})
}

// TestReset_AnyStateOfANamedID_IsFreed, and a second reset changes nothing.
func TestReset_AnyStateOfANamedID_IsFreed(t *testing.T) {
	for name, prepare := range map[string]func(w *world) error{
		"nobody has it":                 func(*world) error { return nil },
		"the enrolment registered it":   func(w *world) error { _, err := w.redeem(w.box, hash(1)); return err },
		"a person registered it":        func(w *world) error { return w.register(w.box) },
		"a person registered and ended": func(w *world) error { return errors.Join(w.register(w.box), w.retire()) },
		"another enrolment registered it": func(w *world) error {
			id, code := w.id, w.code
			w.id, w.code = w.enrolment(w.box)
			w.must(enrolment.Enrols, w.box, hash(1))
			w.id, w.code = id, code
			return nil
		},
		"another enrolment registered it, and it was retired": func(w *world) error {
			id, code := w.id, w.code
			w.id, w.code = w.enrolment(w.box)
			w.must(enrolment.Enrols, w.box, hash(1))
			w.id, w.code = id, code
			return w.retire()
		},
		"a thousand others wait": func(w *world) error {
			var all []enrolment.Waiting
			for n := range enrolment.MostBoxes {
				all = append(all, enrolment.Waiting{EdgeID: fmt.Sprintf("%s-%d", w.box, n), TokenSHA256: hash(1), Since: w.now})
			}
			return w.enrolments.Fill(w.ctx(), w.details().Enrolment, all)
		},
		"the enrolment has ended": func(w *world) error {
			w.must(enrolment.Enrols, w.box, hash(1))
			return w.enrolments.End(w.ctx(), audit.Origin{}, admin, w.id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				expect.OK(t, prepare(w))
				for range 2 { // the first answer may be lost
					expect.OK(t, w.reset(w.box))
				}
				e := w.stored(w.box).Edge
				expect.Must(t, !e.Exists() && e.EnrolmentID == "" && !e.RetiredSince(w.now), "stored %+v", e)
				if w.details().EndedAt == nil {
					w.must(enrolment.Enrols, w.box, hash(2))
				}
			})
		})
	}
}

// TestReset_IDThatTheEnrolmentDoesNotName_IsNotFound, and so is a box of another organization.
func TestReset_IDThatTheEnrolmentDoesNotName_IsNotFound(t *testing.T) {
	each(t, func(w *world) {
		other := w.box + "-b"
		_, err := w.edges.Put(w.ctx(), audit.Origin{}, w.box, edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "rival"}, input.Preconditions{})
		expect.OK(t, errors.Join(err, w.register(other)))
		for _, id := range []string{w.box, other, "nobody"} {
			for _, caller := range []string{"owner", "admin"} {
				p := owner
				if caller == "admin" {
					p = admin
				}
				err := w.enrolments.Reset(w.ctx(), audit.Origin{}, p, w.id, id)
				expect.That(t, problem.Has(err, problem.NotFound), "%s, %s: %v", caller, id, err)
			}
		}
		expect.That(t, w.stored(w.box).Edge.Exists() && w.stored(other).Edge.Exists(), "a box was retired")
	})
}

// A busyStore does something before each transaction.
type busyStore struct {
	dynamo.API
	before func()
}

func (s busyStore) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	s.before()
	return s.API.TransactWriteItems(ctx, in, o...)
}

// TestReset_BoxThatKeepsChanging_IsNotRefused: whoever has its token can make it report all the time.
func TestReset_BoxThatKeepsChanging_IsNotRefused(t *testing.T) {
	each(t, func(w *world) {
		w.must(enrolment.Enrols, w.box, hash(1))
		tries := 0
		busy := busyStore{w.client, func() {
			if tries++; tries <= 10 {
				is := w.stored(w.box)
				next := is.Row
				next.Told, next.Revision = fmt.Sprint(tries), is.Row.Revision+1
				err := report.NewStore(w.db, 1).Save(w.ctx(), is.Row, next)
				expect.That(t, err == nil, "%v", err)
			}
		}}
		db := dynamo.Open(busy, w.db.Now)
		w.enrolments = enrolment.NewRegistry(db, edge.NewRegistry(db, 1))
		err := w.reset(w.box)
		expect.Must(t, err == nil && tries == 11, "after %d tries: %v", tries, err)
	})
}
