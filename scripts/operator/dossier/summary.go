// Package dossier makes a file that says who got a release, and checks such a file without the service.
package dossier

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/trail/audit"
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
	Unknown []string          `json:"unknown"`
	Release release.Published `json:"release"` // with what is in it
	// Publications are those of the version, by its events, and Due is until when pauses of plants may keep it waiting; missing: as long
	// as they last.
	Publications  []Publication `json:"publications"`
	Due           *time.Time    `json:"due,omitempty"`
	Channels      []string      `json:"channels"` // that carry the version
	All           Share         `json:"all"`
	Organizations []Share       `json:"organizations"`
}

// A Publication says who published the version on a channel, and when.
type Publication struct {
	Channel string    `json:"channel"`
	At      time.Time `json:"at"`
	UserID  string    `json:"userId"`
	Issuer  string    `json:"issuer"`
}

// A Share is how far the release is among the boxes of an organization, or of all. A box counts for each organization that it had.
type Share struct {
	OrganizationID string `json:"organizationId,omitempty"` // empty: all
	Hit            int    `json:"hit"`                      // boxes that ever said that they run an affected version
	Exposed        int    `json:"exposed"`                  // boxes that say so now
	Told           int    `json:"told"`                     // boxes that were ever told the version
	Ran            int    `json:"ran"`                      // boxes that ever said that they run it
	Runs           int    `json:"runs"`                     // boxes that say so now
	Failed         int    `json:"failed"`                   // boxes that failed with it or fell back from it
	// Missing are the boxes on channels that carry the version which do not run it: OptedOut those of them whose plant does not want
	// it, and Overdue the others after Due.
	Missing  int `json:"missing"`
	OptedOut int `json:"optedOut"`
	Overdue  int `json:"overdue"`
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
	// OptOut is what its plant says, if that keeps the version from the box.
	OptOut *calendar.OptOut `json:"optOut,omitempty"`
}

// seen is what is known of a box of an organization.
type seen struct {
	hit, exposed, told, failed, runs, missing, optedOut, overdue bool
	ran                                                          *time.Time
}

func (s *seen) runsSince(at time.Time) {
	if s.ran == nil || at.Before(*s.ran) {
		s.ran = &at
	}
}

// sum counts the lists of a dossier again.
func (d *Dossier) sum(spells []report.Spell, boxes []Box, events []event) {
	d.Publications = []Publication{}
	for _, e := range events {
		if after, is := e.After.(map[string]any); is && e.EventName == "ReleasePublished" && after["currentVersion"] == d.Version {
			d.Publications = append(d.Publications, Publication{e.Resource.ID, e.EventTime, e.Actor.UserID, e.Actor.Issuer})
		}
	}
	d.Due = d.Release.Until(d.Release.PublishedAt)
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
		if p.Version != d.Version {
			s.hit = s.hit || p.RanAt != nil && slices.Contains(d.Affected, p.Version)
			continue
		}
		s.told, s.failed = s.told || p.ToldAt != nil, s.failed || p.Code != ""
		if p.RanAt != nil {
			s.runsSince(*p.RanAt)
		}
	}
	for _, b := range boxes {
		s := of(b.OrganizationID, b.EdgeID)
		s.runs, s.exposed = b.Running == d.Version, slices.Contains(d.Affected, b.Running)
		s.hit = s.hit || s.exposed
		s.missing = b.Carries && !s.runs
		s.optedOut = s.missing && b.OptOut != nil
		s.overdue = s.missing && !s.optedOut && d.Due != nil && d.Until.After(*d.Due)
		if p := b.Pending; p != nil && p.Version == d.Version {
			s.told, s.failed = true, s.failed || p.Code != ""
		}
		if s.runs && b.Stay != nil && b.Stay.Version == d.Version {
			s.told = s.told || b.Stay.ToldAt != nil
			s.runsSince(b.Stay.RanAt)
		}
	}
	by, total := map[string][]*seen{}, []*seen{}
	for key, s := range known {
		by[key[0]], total = append(by[key[0]], s), append(total, s)
	}
	d.Organizations = []Share{}
	for id, list := range by {
		d.Organizations = append(d.Organizations, share(id, list))
	}
	slices.SortFunc(d.Organizations, func(a, b Share) int { return cmp.Compare(a.OrganizationID, b.OrganizationID) })
	d.All = share("", total)
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
		count(&s.Hit, b.hit)
		count(&s.Exposed, b.exposed)
		count(&s.Told, b.told)
		count(&s.Ran, b.ran != nil || b.runs)
		count(&s.Runs, b.runs)
		count(&s.Failed, b.failed)
		count(&s.Missing, b.missing)
		count(&s.OptedOut, b.optedOut)
		count(&s.Overdue, b.overdue)
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

// Verify checks the file of a dossier: that nothing in it was changed since it was made, that its counts and publications are those of
// its lists, that it has the documents that the service keeps, and that its events follow each other.
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
	events, err := lines[event](entries, "events.jsonl")
	if err != nil {
		return d, err
	}
	again := d
	if again.sum(spells, boxes, events); !sameJSON(again, d) {
		return d, fmt.Errorf("its counts are not those of its lists")
	}
	for _, sum := range d.Release.Documents.Kept() {
		if !slices.ContainsFunc(entries, func(e entry) bool {
			return strings.HasPrefix(e.name, "documents/"+sum+"/") && fmt.Sprintf("%x", sha256.Sum256(e.data)) == sum
		}) {
			return d, fmt.Errorf("it lacks the document %s", sum)
		}
	}
	return d, followed(events)
}

// An event is an audit event of a channel or a rollout, the oldest first.
type event struct {
	EventTime time.Time    `json:"eventTime"`
	EventName string       `json:"eventName"`
	Actor     audit.Person `json:"actor"`
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
