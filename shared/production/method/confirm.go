package method

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/machine"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// Confirmed names a machine of a version.
type Confirmed struct {
	Ref
	Machine string
}

// ConfirmedOf reads the path parameters of a version, and the machine's code.
func ConfirmedOf(in *input.Reader) Confirmed {
	return Confirmed{RefOf(in), in.Path("code", input.Name)}
}

// ConfirmationOf reads the reason of a confirmation.
func ConfirmationOf(body *input.Object) string { return body.Text("reason", ReasonRule) }

// MostConfirmed is how many machines one signature confirms: each is two items of a transaction.
const MostConfirmed = 40

// A Confirmations is a person's word about several machines of a version.
type Confirmations struct {
	Machines []string
	Reason   string
}

// ConfirmationsOf reads such a word.
func ConfirmationsOf(body *input.Object) Confirmations {
	return Confirmations{body.Texts("machines", input.Name, 1, MostConfirmed), body.Text("reason", ReasonRule)}
}

// A ConfirmedNow says which machines were confirmed by a call, and which had been by the same person with the same reason.
type ConfirmedNow struct {
	Confirmed []string `json:"confirmed"`
	Before    []string `json:"before"`
	first     bool
}

// Confirm stores a person's word that machines no longer have a withdrawn version: about all of them, or about none. Each machine has
// an event. It returns NOT_FOUND for a version outside the caller's organization or a machine that the factory does not have, and
// INVALID_STATE_TRANSITION, with each such machine, if the version is not withdrawn, does not concern a machine, or the machine is
// confirmed already.
func (s *Store) Confirm(ctx context.Context, caller auth.Principal, from audit.Origin, r Ref, c Confirmations) (now ConfirmedNow, err error) {
	from = from.For(audit.Grounds{Reason: c.Reason})
	err = change.Make(ctx, s.db, from, func(set *change.Set) error {
		var st state
		var seen survey
		now = ConfirmedNow{Confirmed: []string{}, Before: []string{}}
		err := dynamo.Together(ctx,
			func(ctx context.Context) (err error) { st, err = s.read(ctx, caller, r, 0); return err },
			func(ctx context.Context) (err error) { seen, err = s.survey(ctx, r); return err })
		if err != nil {
			return err
		}
		v := st.version
		known := func(code string) bool {
			return slices.ContainsFunc(seen.park, func(x machine.Machine) bool { return x.Code == code })
		}
		if v.Revision == 0 || slices.ContainsFunc(c.Machines, func(code string) bool { return !known(code) }) {
			return problem.Missing()
		}
		if v.Status != Withdrawn {
			return st.method.refuse(s.db.Now(), v, "Only a withdrawn version is confirmed.")
		}
		all := st.method.reached(v, seen, s.db.Now())
		var refused []problem.Fault
		for i, code := range c.Machines {
			was := seen.said[code]
			detail := fmt.Sprintf("Version %d does not concern machine %s, which never could have it.", v.Version, code)
			if slices.ContainsFunc(all, func(x Reached) bool { return x.Machine == code }) {
				next, event, err := was.confirm(v, code, Confirmation{Version: v.Version, At: set.After(was.UpdatedAt), Reason: c.Reason, Person: machine.PersonOf(caller)})
				if err == nil {
					now.add(code, was.Revision == 0, event)
					if event != "" {
						err = recordReport(set, from, onMachineKind(st.owner.OrganizationID, was.Subject), was.OnMachine, next, event)
					}
					if err != nil {
						return err
					}
					continue
				}
				detail = problem.From(err).Detail
			}
			refused = append(refused, problem.Fault{Pointer: "/machines/" + strconv.Itoa(i), Code: "reference", Detail: detail})
		}
		return unconfirmable(refused)
	})
	return now, err
}

// unconfirmable refuses a word about several machines; nil if none is refused.
func unconfirmable(faults []problem.Fault) error {
	switch len(faults) {
	case 0:
		return nil
	case 1:
		return problem.New(problem.InvalidStateTransition, "%s", faults[0].Detail)
	}
	e := problem.New(problem.InvalidStateTransition, "%d of the machines cannot be confirmed; see errors. None was.", len(faults))
	e.Faults = faults
	return e
}

// add notes a machine. Without an event, it was confirmed before.
func (n *ConfirmedNow) add(code string, first bool, event string) {
	if event == "" {
		n.Before = append(n.Before, code)
		return
	}
	n.Confirmed, n.first = append(n.Confirmed, code), n.first || first
}

// First reports whether it was the first word about a machine and the method.
func (n ConfirmedNow) First() bool { return n.first }

// boxOf is what a machine's list shows of its box.
type boxOf struct {
	registration
	row struct {
		Subject string `json:"subject"` // see report.Row; missing until the box has polled
		Tokens  struct {
			EndedAt *time.Time `json:"endedAt"`
		} `json:"tokens"`
	}
}

// boxesOf reads the boxes of machines.
func (s *Store) boxesOf(ctx context.Context, page []Reached) (map[string]*boxOf, error) {
	boxes := map[string]*boxOf{"": {}}
	var reads []func(context.Context) error
	for _, x := range page {
		if boxes[x.EdgeID] == nil {
			b := new(boxOf)
			boxes[x.EdgeID] = b
			reads = append(reads, s.into(dynamo.Edges, dynamo.Key{"edgeId": x.EdgeID}, &b.registration),
				s.into(dynamo.Reports, dynamo.Key{"edgeId": x.EdgeID}, &b.row))
		}
	}
	return boxes, dynamo.Together(ctx, reads...)
}

// withoutBox marks the machines whose box cannot report for them: they have none, it was retired or is in another factory,
// or all of its tokens were ended. A box that has called since then has access tokens of its issuer.
func withoutBox(factoryID string, page []Reached, boxes map[string]*boxOf) {
	for i, x := range page {
		if x.EdgeID == "" || boxes[x.EdgeID].FactoryID != factoryID { // a retired box is in no factory
			page[i].WithoutBox = true
			continue
		}
		at := boxes[x.EdgeID].row.Tokens.EndedAt
		page[i].WithoutBox = at != nil && (x.LastHeardAt == nil || !x.LastHeardAt.After(*at))
	}
}
