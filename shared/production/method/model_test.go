package method

import (
	"slices"
	"testing"
	"time"

	"wavegate/shared/production/factory"
	"wavegate/shared/testing/expect"
)

const (
	histories = 12000
	tries     = 40
)

// play plays histories until one finds a fault. It returns the fault and the highest number of
// decisions at once.
func play(r rules, count int) (fault string, most int) {
	for seed := range uint64(count) {
		h := newHistory(r, seed)
		for range tries {
			if fault := h.step(); fault != "" {
				return fault, most
			}
		}
		most = max(most, h.most)
	}
	return "", most
}

// TestHistories_AgreeWithTheBook plays 12,000 histories of 40 tries each.
func TestHistories_AgreeWithTheBook(t *testing.T) {
	fault, most := play(ownRules(), histories)
	expect.That(t, fault == "", "%v", fault)
	t.Logf("%d histories, %d tries, at most %d decisions in force", histories, histories*tries, most)
}

// plantedBugs lists rules with one bug each. Each bug would let a factory produce with a wrong version.
var plantedBugs = map[string]func(*rules){
	"the author may approve": func(r *rules) {
		r.move = func(m Method, v, other Version, move Move, s Signer, _ factory.ApprovalPolicy, at time.Time) (Result, error) {
			return m.Move(v, other, move, s, factory.Single, at)
		}
	},
	"the signature is not bound to the content": func(r *rules) {
		r.move = func(m Method, v, other Version, move Move, s Signer, p factory.ApprovalPolicy, at time.Time) (Result, error) {
			move.ContentSHA256 = v.ContentSHA256
			return m.Move(v, other, move, s, p, at)
		}
	},
	"a withdrawal restores what was superseded": func(r *rules) {
		r.move = func(m Method, v, other Version, move Move, s Signer, p factory.ApprovalPolicy, at time.Time) (Result, error) {
			o, err := m.Move(v, other, move, s, p, at)
			if move.Status == Withdrawn && err == nil && o.Event != "" && move.Reinstate == 0 {
				o.Method.Effectivity = slices.DeleteFunc(slices.Clone(m.Effectivity), func(d Decision) bool { return d.Version == v.Version })
			}
			return o, err
		}
	},
	"a withdrawal leaves the decisions": func(r *rules) {
		r.move = func(m Method, v, other Version, move Move, s Signer, p factory.ApprovalPolicy, at time.Time) (Result, error) {
			o, err := m.Move(v, other, move, s, p, at)
			if move.Status == Withdrawn && err == nil {
				o.Method.Effectivity = m.Effectivity
			}
			return o, err
		}
	},
	"a decision may begin in the past": func(r *rules) {
		r.move = func(m Method, v, other Version, move Move, s Signer, p factory.ApprovalPolicy, at time.Time) (Result, error) {
			if !move.EffectiveFrom.IsZero() && move.EffectiveFrom.Before(at) {
				at = move.EffectiveFrom
			}
			return m.Move(v, other, move, s, p, at)
		}
	},
	"what will be superseded is removed immediately": func(r *rules) {
		r.after = func(e Effectivity, _ time.Time) Effectivity {
			for i := len(e) - 1; i > 0; i-- {
				if e[i].everywhere() {
					return e[i:]
				}
			}
			return e
		}
	},
	"the decision with the latest date holds": func(r *rules) {
		r.at = func(e Effectivity, machine string, t time.Time) (Decision, bool) {
			sorted := slices.Clone(e)
			slices.SortStableFunc(sorted, func(a, b Decision) int { return a.From.Compare(b.From) })
			return sorted.At(machine, t)
		}
	},
	"a trial holds on all machines": func(r *rules) {
		r.at = func(e Effectivity, _ string, t time.Time) (Decision, bool) {
			for _, d := range slices.Backward(e) {
				if !t.Before(d.From) {
					return d, true
				}
			}
			return Decision{}, false
		}
	},
	"a later order to stop is ignored": func(r *rules) {
		r.move = func(m Method, v, other Version, move Move, s Signer, p factory.ApprovalPolicy, at time.Time) (Result, error) {
			if v.Status == Withdrawn && move.Orders != Finish && move.Reinstate == 0 {
				return Result{Method: m, Version: v}, nil
			}
			return m.Move(v, other, move, s, p, at)
		}
	},
	"a schedule is not moved": func(r *rules) {
		r.move = func(m Method, v, other Version, move Move, s Signer, p factory.ApprovalPolicy, at time.Time) (Result, error) {
			o, err := m.Move(v, other, move, s, p, at)
			if err == nil && v.Status == Released && move.Status == Released {
				o.Method.Effectivity = m.Effectivity
			}
			return o, err
		}
	},
	"a further signature is omitted": func(r *rules) {
		r.move = func(m Method, v, other Version, move Move, s Signer, p factory.ApprovalPolicy, at time.Time) (Result, error) {
			o, err := m.Move(v, other, move, s, p, at)
			if err == nil && o.Event == cosigned {
				return Result{Method: m, Version: v}, nil
			}
			return o, err
		}
	},
	"one person can reinstate any version": func(r *rules) {
		r.move = func(m Method, v, other Version, move Move, s Signer, p factory.ApprovalPolicy, at time.Time) (Result, error) {
			if move.Status == Withdrawn {
				other.Status, other.ReleasedFrom = Released, &start
			}
			return m.Move(v, other, move, s, p, at)
		}
	},
}

func TestHistories_PlantedBugs_AreAllCaught(t *testing.T) {
	for name, plant := range plantedBugs {
		t.Run(name, func(t *testing.T) {
			r := ownRules()
			plant(&r)
			fault, _ := play(r, histories)
			expect.That(t, fault != "", "no history detected it")
			t.Log(fault)
		})
	}
}
