package report

import "maps"

// SaidBefore are the attributes that a box said before it was told of a rollout.
type SaidBefore struct {
	RolloutID string            `json:"rolloutId"`
	Said      map[string]string `json:"said,omitempty"`
}

// AttributesBefore are the box's attributes, those that it says as they were before it was told of a rollout: a release
// that changes them must not make up kinds of boxes. What the registration says wins.
func (r Row) AttributesBefore(rolloutID string) map[string]string {
	said := r.Said
	if r.Before != nil && r.Before.RolloutID == rolloutID {
		said = r.Before.Said
	}
	all := maps.Clone(said)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, r.Attributes)
	return all
}
