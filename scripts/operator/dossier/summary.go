// Package dossier makes a file that says who got a release, and checks such a file without the service.
package dossier

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
)

// A Dossier says who got a release. It is the entry dossier.json of a file; the other entries are what it rests on.
type Dossier struct {
	Form     int    `json:"form"` // 1
	EdgeType string `json:"edgeType"`
	Version  string `json:"version"`
	// Advisory is the weakness that was asked for, which the version fixes, and Affected the versions that have it.
	Advisory string   `json:"advisory,omitempty"`
	Affected []string `json:"affected,omitempty"`
	Service  string   `json:"service"` // the URL that was asked
	// From and Until are when the service was asked first and last.
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// Claims is what the file is good for. Service and box says which values the service saw, and which are a box's word.
	Claims string              `json:"claims"`
	Says   map[string][]string `json:"says"`
	// Unknown is what the file cannot say.
	Unknown       []string          `json:"unknown"`
	Release       release.Published `json:"release"`
	Channels      []string          `json:"channels"` // that carry the version
	All           Share             `json:"all"`
	Organizations []Share           `json:"organizations"`
}

// A Share is how far the release is among the boxes of an organization, or of all. A box counts for each organization that it had.
type Share struct {
	OrganizationID string `json:"organizationId,omitempty"` // empty: all
	Told           int    `json:"told"`                     // boxes that were ever told the version
	Ran            int    `json:"ran"`                      // boxes that ever said that they run it
	Runs           int    `json:"runs"`                     // boxes that say so now
	Failed         int    `json:"failed"`                   // boxes that failed with it or fell back from it
	// Missing are the boxes on channels that carry the version which do not run it.
	Missing int `json:"missing"`
	// First, Half, Most and Last are when the first box said that it runs the version, half of those that ever did, 95 percent
	// of them, and all: of those of which the time is known.
	First *time.Time `json:"first,omitempty"`
	Half  *time.Time `json:"half,omitempty"`
	Most  *time.Time `json:"most,omitempty"`
	Last  *time.Time `json:"last,omitempty"`
}

// A Box is a box of the list boxes.jsonl: it follows a channel that carries the version, or runs the version.
type Box struct {
	EdgeID         string          `json:"edgeId"`
	OrganizationID string          `json:"organizationId"`
	FactoryID      string          `json:"factoryId,omitempty"`
	Channel        string          `json:"channel"`
	Running        string          `json:"running,omitempty"`
	Stay           *report.Stay    `json:"stay,omitempty"`
	Pending        *report.Pending `json:"pending,omitempty"`
	// Carries is set if its channel carries the version.
	Carries bool `json:"carries"`
}

// seen is what is known of a box of an organization.
type seen struct {
	told, failed, runs, missing bool
	ran                         *time.Time
}

func (s *seen) runsSince(at time.Time) {
	if s.ran == nil || at.Before(*s.ran) {
		s.ran = &at
	}
}

// summed counts the lists of a dossier again.
func summed(version string, spells []report.Spell, boxes []Box) (all Share, organizations []Share) {
	known := map[[2]string]*seen{}
	of := func(organization, id string) *seen {
		key := [2]string{organization, id}
		if known[key] == nil {
			known[key] = &seen{}
		}
		return known[key]
	}
	for _, p := range spells {
		s := of(p.OrganizationID, p.EdgeID)
		s.told, s.failed = s.told || p.ToldAt != nil, s.failed || p.Code != ""
		if p.RanAt != nil {
			s.runsSince(*p.RanAt)
		}
	}
	for _, b := range boxes {
		s := of(b.OrganizationID, b.EdgeID)
		s.runs = b.Running == version
		s.missing = b.Carries && !s.runs
		if p := b.Pending; p != nil && p.Version == version {
			s.told, s.failed = true, s.failed || p.Code != ""
		}
		if s.runs && b.Stay != nil && b.Stay.Version == version {
			s.told = s.told || b.Stay.ToldAt != nil
			s.runsSince(b.Stay.RanAt)
		}
	}
	by, total := map[string][]*seen{}, []*seen{}
	for key, s := range known {
		by[key[0]], total = append(by[key[0]], s), append(total, s)
	}
	organizations = []Share{}
	for id, list := range by {
		organizations = append(organizations, share(id, list))
	}
	slices.SortFunc(organizations, func(a, b Share) int { return cmp.Compare(a.OrganizationID, b.OrganizationID) })
	return share("", total), organizations
}

func share(organization string, list []*seen) Share {
	s := Share{OrganizationID: organization}
	var ran []time.Time
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for _, b := range list {
		count(&s.Told, b.told)
		count(&s.Ran, b.ran != nil || b.runs)
		count(&s.Runs, b.runs)
		count(&s.Failed, b.failed)
		count(&s.Missing, b.missing)
		if b.ran != nil {
			ran = append(ran, *b.ran)
		}
	}
	slices.SortFunc(ran, time.Time.Compare)
	part := func(percent int) *time.Time {
		if len(ran) == 0 {
			return nil
		}
		return &ran[max(0, (len(ran)*percent+99)/100-1)]
	}
	s.First, s.Half, s.Most, s.Last = part(0), part(50), part(95), part(100)
	return s
}

// lines are the entries of a dossier that are lists, one item a line.
func lines[T any](entries []entry, name string) (all []T, err error) {
	i := slices.IndexFunc(entries, func(e entry) bool { return e.name == name })
	if i < 0 {
		return nil, fmt.Errorf("it has no %s", name)
	}
	d := json.NewDecoder(bytes.NewReader(entries[i].data))
	d.UseNumber()
	for d.More() {
		var item T
		if err := d.Decode(&item); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, item)
	}
	return all, nil
}

// Verify checks the file of a dossier: that nothing in it was changed since it was made, that its counts are those of its
// lists, and that its events follow each other.
func Verify(file []byte) (d Dossier, err error) {
	entries, err := unpack(file)
	if err != nil {
		return d, err
	}
	heads, err := lines[Dossier](entries, "dossier.json")
	if err != nil || len(heads) != 1 {
		return d, cmp.Or(err, fmt.Errorf("dossier.json is not one value"))
	}
	d = heads[0]
	spells, err := lines[report.Spell](entries, "spells.jsonl")
	if err != nil {
		return d, err
	}
	boxes, err := lines[Box](entries, "boxes.jsonl")
	if err != nil {
		return d, err
	}
	if all, organizations := summed(d.Version, spells, boxes); !sameJSON(all, d.All) || !sameJSON(organizations, d.Organizations) {
		return d, fmt.Errorf("its counts are not those of its lists")
	}
	events, err := lines[event](entries, "events.jsonl")
	if err != nil {
		return d, err
	}
	return d, followed(events)
}

// An event is an audit event of a channel or a rollout, the oldest first.
type event struct {
	EventTime time.Time `json:"eventTime"`
	Resource  struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"resource"`
	Before any `json:"before"`
	After  any `json:"after"`
}

// followed checks that the events of each resource follow each other: each begins with what the one before it made.
func followed(events []event) error {
	last := map[string]event{}
	for i, e := range events {
		of := e.Resource.Type + " " + e.Resource.ID
		was, known := last[of]
		switch {
		case known && e.EventTime.Before(was.EventTime):
			return fmt.Errorf("event %d of %s is older than the one before it", i+1, of)
		case known && !reflect.DeepEqual(e.Before, was.After):
			return fmt.Errorf("event %d of %s does not begin with what the one before it made", i+1, of)
		}
		last[of] = e
	}
	return nil
}

func sameJSON(a, b any) bool {
	one, err := json.Marshal(a)
	two, other := json.Marshal(b)
	return err == nil && other == nil && string(one) == string(two)
}
