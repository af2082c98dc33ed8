package report

import (
	"fmt"
	"strings"
	"time"

	"wavegate/shared/platform/dynamo"
)

// A trace keeps what a box did in a rollout if its registration changes: it is moved to another channel, retired, reset,
// given to another organization, or pinned. One is also left if the rollout is returned and the box is offered another
// version. It lies in the table of rows, where a census of the rollout's channel finds it. So nobody can remove evidence by
// changing a registration. A trace never changes.
type trace struct {
	EdgeID         string      `json:"edgeId"` // see traceID
	Box            string      `json:"box"`
	EdgeType       string      `json:"edgeType"`
	Channel        string      `json:"channel"`
	Shard          string      `json:"shard"`
	StateKey       string      `json:"stateKey"`
	RolloutID      string      `json:"rolloutId"`
	Running        string      `json:"running,omitempty"`
	FactoryID      string      `json:"factoryId,omitempty"`
	OrganizationID string      `json:"organizationId,omitempty"`
	Code           FailureCode `json:"code,omitempty"`
	Since          time.Time   `json:"since"`
	// Attributes are those of the box before it was told of the rollout.
	Attributes map[string]string `json:"attributes,omitempty"`
	At         time.Time         `json:"at"`
	Expires    int64             `json:"expires"`
}

const (
	// TracePrefix begins the keys of traces. No box has such an id.
	TracePrefix = "trace" + separator
	// traced begins the sort keys of traces in the index, before all others, so that a census knows a box's trace when it
	// finds the box.
	traced = "!"
	// traceTime is how long a trace is kept. It must be longer than any rollout, because nothing is written to the boxes
	// when a rollout ends.
	traceTime = 180 * 24 * time.Hour
)

// LeavesTrace reports whether a change of the registration ends what a rollout offered the box, or may end it: a pin to
// another version does so at the box's next poll.
func (r Row) LeavesTrace(next Row) bool {
	return !r.Retired && r.Offer != nil && r.Offer.RolloutID != "" &&
		(r.pair() != next.pair() || r.OrganizationID != next.OrganizationID || r.repins(next) || r.sentBack(next))
}

// sentBack reports whether an offer replaces that of a rollout that was returned.
func (r Row) sentBack(next Row) bool {
	return next.Offer != nil && next.Offer.RolloutID == "" && next.ReturnedFrom == r.Offer.RolloutID
}

// trace is the part of a transaction that keeps what the box did until a time; nil if there is nothing to keep.
func (s *Store) trace(was, next Row, at time.Time) []dynamo.TransactItem {
	if !was.LeavesTrace(next) {
		return nil
	}
	e := was.Entry()
	t := trace{
		EdgeID: fmt.Sprintf("%s%s%s%s%s%d", TracePrefix, e.RolloutID, separator, was.EdgeID, separator, was.Revision), Box: was.EdgeID,
		EdgeType: was.EdgeType, Channel: was.Channel, Shard: s.shards.Of(was.pair(), was.EdgeID), StateKey: traced + e.StateKey(),
		RolloutID: e.RolloutID, Running: e.Running, FactoryID: e.FactoryID, OrganizationID: e.OrganizationID, Code: e.Code, Since: e.Since,
		At: at, Expires: at.Add(traceTime).Unix(),
	}
	if all := was.AttributesBefore(e.RolloutID); len(all) > 0 {
		t.Attributes = all
	}
	return []dynamo.TransactItem{dynamo.TransactNew("trace", dynamo.Reports, t, dynamo.Absent("edgeId"))}
}

// boxOf is the box of an item's key, which is that of a row or a trace.
func boxOf(key string) string {
	if rest, is := strings.CutPrefix(key, TracePrefix); is {
		return strings.Split(rest, separator)[1]
	}
	return key
}
