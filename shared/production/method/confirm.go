package method

import (
	"context"
	"slices"
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

// Confirm stores a person's word that a machine no longer has a withdrawn version, and reports whether it is the first
// word about the machine and the method. It returns NOT_FOUND for a version outside the caller's organization or a machine
// that the factory does not have, and INVALID_STATE_TRANSITION if the version is not withdrawn, does not concern the
// machine, or the machine is confirmed already.
func (s *Store) Confirm(ctx context.Context, caller auth.Principal, from audit.Origin, c Confirmed, reason string) (created bool, err error) {
	from = from.For(audit.Grounds{Reason: reason})
	err = change.Make(ctx, s.db, from, func(set *change.Set) error {
		var st state
		var seen survey
		err := dynamo.Together(ctx,
			func(ctx context.Context) (err error) { st, err = s.read(ctx, caller, c.Ref, 0); return err },
			func(ctx context.Context) (err error) { seen, err = s.survey(ctx, c.Ref); return err })
		if err != nil {
			return err
		}
		v, was := st.version, seen.said[c.Machine]
		if v.Revision == 0 || !slices.ContainsFunc(seen.park, func(x machine.Machine) bool { return x.Code == c.Machine }) {
			return problem.Missing()
		}
		if v.Status != Withdrawn {
			return st.method.refuse(s.db.Now(), v, "Only a withdrawn version is confirmed.")
		}
		all := st.method.reached(v, seen, s.db.Now())
		if !slices.ContainsFunc(all, func(x Reached) bool { return x.Machine == c.Machine }) {
			return problem.New(problem.InvalidStateTransition, "Version %d does not concern machine %s, which never could have it.", v.Version, c.Machine)
		}
		next, event, err := was.confirm(v, c.Machine, Confirmation{
			Version: v.Version, At: set.After(was.UpdatedAt), Reason: reason, Person: machine.PersonOf(caller),
		})
		if created = was.Revision == 0; err != nil || event == "" {
			return err
		}
		return recordReport(set, from, onMachineKind(st.owner.OrganizationID, was.Subject), was.OnMachine, next, event)
	})
	return created, err
}

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
