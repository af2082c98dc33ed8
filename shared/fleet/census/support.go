package census

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// SupportType is the resource type, in the audit trail, of warnings that the support of a version ends which boxes run.
const SupportType = "release-support"

// Events of the end of a support: 90 and 30 days before, and at the end.
const (
	SupportEnding = "SupportEnding"
	SupportEnded  = "SupportEnded"
)

// warnedBefore are the days before the end of a support at which organizations are warned.
var warnedBefore = []int{0, 30, 90}

// A Support is a version whose support has ended, or ends within 90 days, and that boxes of an organization run.
type Support struct {
	OrganizationID string    `json:"organizationId" stored:"identity"`
	EdgeType       string    `json:"edgeType" stored:"identity"`
	Version        string    `json:"version" stored:"identity"`
	SupportedUntil time.Time `json:"supportedUntil"`
	Boxes          int       `json:"boxes"` // that run it
}

// A SupportWarning is a Support of which people were warned, as it was then.
type SupportWarning struct {
	Support
	Days      int       `json:"days"` // before the end, at most; 0: it has ended
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"`
	dynamo.Unknown
}

// due is how many days before its end a support was at a time, as far as people are warned; false: too many.
func (s Support) due(at time.Time) (days int, is bool) {
	i := slices.IndexFunc(warnedBefore, func(days int) bool { return !at.Before(s.SupportedUntil.AddDate(0, 0, -days)) })
	if i < 0 {
		return 0, false
	}
	return warnedBefore[i], true
}

// after is a warning after a count. The event is empty if people were warned before.
func (w SupportWarning) after(s Support, at time.Time) (next SupportWarning, event string) {
	days, due := s.due(at)
	if !due || w.Revision > 0 && w.SupportedUntil.Equal(s.SupportedUntil) && w.Days <= days {
		return w, ""
	}
	next = w
	next.Support, next.Days, next.UpdatedAt, next.Revision = s, days, at, w.Revision+1
	if days > 0 {
		return next, SupportEnding
	}
	return next, SupportEnded
}

func (s Support) id() string { return s.OrganizationID + "/" + release.Pair(s.EdgeType, s.Version) }

// Supports are counted for all organizations.
type Supports struct {
	Support []Support `json:"support,omitempty"` // those that end first come first; mostSupports at most
}

const (
	mostSupports = 500
	// supportAge is how old a count of supports may be: it reads the boxes of each edge type with such a version.
	supportAge = 6 * time.Hour
	supports   = "support/" // with an organization, the key of its warnings in the table of progress
	allSupport = "supports" // the key of the count
)

// supportItem is stored beside the counts.
type supportItem struct {
	Subject string `json:"subject"`
	Part    string `json:"part"`
	SupportWarning
}

var supportKind = change.Kind[SupportWarning]{
	Type: SupportType, Table: dynamo.Progress, Key: "subject",
	State: func(w SupportWarning) change.Stamp {
		return change.Stamp{ID: w.id(), Revision: w.Revision, ChangedAt: w.UpdatedAt, Organization: w.OrganizationID}
	},
	Item: func(w SupportWarning) any {
		return supportItem{supports + w.OrganizationID, release.Pair(w.EdgeType, w.Version), w}
	},
}

// WarnOfSupport counts which boxes run versions whose support ends, unless the last count is recent, and warns the organizations
// that have such boxes: once for each version, and each number of days before. A call that fails is made up for by the next count.
func (s *Reader) WarnOfSupport(ctx context.Context, from audit.Origin) error {
	h, err := readHead[Supports](ctx, s.db, allSupport, partLatest)
	if err != nil {
		return err
	}
	_, err = counted(ctx, s, h, supportAge, func(ctx context.Context, _ *Supports) (Supports, afterwards, error) {
		all, err := s.countSupport(ctx)
		return all, func(ctx context.Context) error { return s.warnOf(ctx, from, all) }, err
	})
	if errors.Is(err, errCounting) {
		err = nil
	}
	return err
}

// A SupportCause says why people were warned. The audit event holds it.
type SupportCause struct {
	Sentence string `json:"sentence"`
}

// Explain says it.
func (c SupportCause) Explain() string { return c.Sentence }

func (s *Reader) warnOf(ctx context.Context, from audit.Origin, all Supports) error {
	var faults []error
	for _, one := range all.Support {
		cause := SupportCause{fmt.Sprintf("The support of %s of %s ends at %s, and %s of %s run it.",
			one.Version, one.EdgeType, timestamp.Text(one.SupportedUntil), boxes(one.Boxes), one.OrganizationID)}
		_, err := change.Put(ctx, s.db, from.For(audit.Grounds{Cause: cause}), supportKind, dynamo.Key{"subject": supports + one.OrganizationID, "part": release.Pair(one.EdgeType, one.Version)}, input.Preconditions{},
			func(was SupportWarning, at time.Time) (SupportWarning, string, error) {
				next, event := was.after(one, at)
				return next, event, nil
			})
		if err != nil {
			faults = append(faults, fmt.Errorf("census: support of %s: %w", one.id(), err))
		}
	}
	return errors.Join(faults...)
}

// countSupport counts the boxes that run a version whose support has ended, or ends soon, by organization.
func (s *Reader) countSupport(ctx context.Context) (all Supports, err error) {
	now, ending := s.db.Now(), map[string]map[string]Support{} // by edge type and version
	err = s.releases.EachSaid(ctx, func(n release.Named, is release.Saying) {
		if is.SupportedUntil == nil {
			return
		}
		one := Support{EdgeType: n.EdgeType, Version: n.Version, SupportedUntil: *is.SupportedUntil}
		if _, due := one.due(now); due && ending[n.EdgeType] == nil {
			ending[n.EdgeType] = map[string]Support{n.Version: one}
		} else if due {
			ending[n.EdgeType][n.Version] = one
		}
	})
	if err != nil {
		return all, err
	}
	for edgeType, of := range ending {
		if err := s.running(ctx, edgeType, of, &all); err != nil {
			return all, err
		}
	}
	slices.SortFunc(all.Support, func(a, b Support) int {
		return cmp.Or(a.SupportedUntil.Compare(b.SupportedUntil), cmp.Compare(b.Boxes, a.Boxes), cmp.Compare(a.id(), b.id()))
	})
	all.Support = all.Support[:min(len(all.Support), mostSupports)]
	return all, nil
}

// running adds the organizations whose boxes of an edge type run some versions.
func (s *Reader) running(ctx context.Context, edgeType string, of map[string]Support, all *Supports) error {
	var pairs []string
	if err := s.releases.EachRow(ctx, edgeType, func(r release.ChannelRow) { pairs = append(pairs, r.ID()) }); err != nil {
		return err
	}
	sum := map[Support]int{}
	for _, pair := range pairs {
		parts, _, err := each(ctx, s.reports, pair, func() map[Support]int { return map[Support]int{} }, func(part map[Support]int, e report.IndexEntry) {
			if one, ends := of[e.Running]; ends && !e.Trace {
				one.OrganizationID = e.OrganizationID
				part[one]++
			}
		})
		if err != nil {
			return err
		}
		for _, part := range parts {
			for one, boxes := range part {
				sum[one] += boxes
			}
		}
	}
	for one, boxes := range sum {
		one.Boxes = boxes
		all.Support = append(all.Support, one)
	}
	return nil
}

// Support returns what the last count found of an organization; empty: of all.
func (s *Reader) Support(ctx context.Context, organizationID string) (found Supports, err error) {
	h, err := readHead[Supports](ctx, s.db, allSupport, partLatest)
	if h.Answer != nil {
		for _, one := range h.Answer.Support {
			if organizationID == "" || one.OrganizationID == organizationID {
				found.Support = append(found.Support, one)
			}
		}
	}
	return found, err
}
