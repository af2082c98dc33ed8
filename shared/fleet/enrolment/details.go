package enrolment

import (
	"context"
	"slices"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/dynamo"
)

// A Redemption is a box that the enrolment registered.
type Redemption struct {
	EdgeID     string    `json:"edgeId"`
	RedeemedAt time.Time `json:"redeemedAt"`
	// RetiredAt is when the box was retired; nil: it was not.
	RetiredAt *time.Time `json:"retiredAt,omitempty"`
}

// Details holds an enrolment and its boxes.
type Details struct {
	Enrolment
	EdgeIDs     []string     `json:"edgeIds"`
	Redemptions []Redemption `json:"redemptions"`
	Waiting     []Waiting    `json:"waiting"`
}

// Get returns an enrolment with its boxes: the registered ones in the order of their ids, and the waiting ones, newest
// first. It returns NOT_FOUND.
func (s *Store) Get(ctx context.Context, caller auth.Principal, id string) (Details, error) {
	var kept Kept
	var ids IDs
	var all []Waiting
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) { kept, err = s.get(ctx, id); return err },
		func(ctx context.Context) (err error) { ids, err = s.ids(ctx, id); return err },
		func(ctx context.Context) (err error) { all, err = s.allWaiting(ctx, id); return err })
	if err == nil {
		err = kept.shown(caller)
	}
	if err != nil {
		return Details{}, err
	}
	boxes, err := edge.NewStore(s.db).GetAll(ctx, slices.Concat(ids.Listed, ids.Accepted))
	if err != nil {
		return Details{}, err
	}
	d := Details{Enrolment: kept.Enrolment, EdgeIDs: ids.Listed, Redemptions: []Redemption{}, Waiting: []Waiting{}}
	registered := map[string]bool{}
	for _, b := range boxes {
		if b.EnrolmentID != id {
			continue
		}
		r := Redemption{EdgeID: b.EdgeID, RedeemedAt: b.CreatedAt}
		if !b.Exists() {
			r.RetiredAt = &b.UpdatedAt
		}
		d.Redemptions, registered[b.EdgeID] = append(d.Redemptions, r), true
	}
	slices.SortFunc(d.Redemptions, func(a, b Redemption) int { return strings.Compare(a.EdgeID, b.EdgeID) })
	for _, w := range all[:min(len(all), MostBoxes)] {
		if !registered[w.EdgeID] {
			d.Waiting = append(d.Waiting, w)
		}
	}
	return d, nil
}
