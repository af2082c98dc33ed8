package method

import (
	"cmp"
	"slices"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/machine"
)

// OnMachine is what a machine has said about the versions of a method, and people about the machine.
type OnMachine struct {
	MethodID  string `json:"methodId"`
	FactoryID string `json:"factoryId"`
	Machine   string `json:"machine"`
	EdgeID    string `json:"edgeId"` // the box that reported last
	// Versions are the last reports by version: at least the last 16, and all of versions that the machine has.
	Versions []Said `json:"versions,omitempty"`
	// Orders are the orders that run, by version. Unlisted are versions with more orders than are kept.
	Orders   []RunningOrder `json:"orders,omitempty"`
	Unlisted []int64        `json:"unlisted,omitempty"`
	// Gone are versions that the machine does not have, and of which no more is kept.
	Gone []int64 `json:"gone,omitempty"`
	// Deviations are the last reports, by version, of versions that did not hold on the machine, or with other bytes.
	Deviations []Deviation `json:"deviations,omitempty"`
	// OtherBytes are the other bytes that the machine has, by version, content and running order.
	OtherBytes []Deviation `json:"otherBytes,omitempty"`
	// Confirmed is what people have confirmed for the machine, by version.
	Confirmed []Confirmation `json:"confirmed,omitempty"`
	// TrailSHA256 is the hash of the last report in the chain of this machine's reports; see chain.NextReport.
	TrailSHA256 string    `json:"trailSha256,omitempty"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
	Revision    int64     `json:"revision"`
	dynamo.Unknown
}

// Said is what a machine has said about one version.
type Said struct {
	Version       int64     `json:"version" stored:"identity"`
	ContentSHA256 string    `json:"contentSha256"`
	State         Doing     `json:"state"`
	Since         time.Time `json:"since"`
	Order         string    `json:"order,omitempty"`
	Detail        string    `json:"detail,omitempty"`
	// Told is what the box was told to do with orders when it reported the version after its withdrawal.
	Told   Orders     `json:"told,omitempty"`
	ToldAt *time.Time `json:"toldAt,omitempty"`
}

// A RunningOrder is an order that runs with a version. Its name is empty if the machine did not name it.
type RunningOrder struct {
	Version int64     `json:"version" stored:"identity"`
	Order   string    `json:"order" stored:"identity"`
	Since   time.Time `json:"since"`
}

// A Deviation is a report of a version that did not hold on the machine, or of a content that is not the version's.
type Deviation struct {
	Version       int64     `json:"version"`
	ContentSHA256 string    `json:"contentSha256"`
	State         Doing     `json:"state"`
	Order         string    `json:"order,omitempty"`
	Since         time.Time `json:"since"`
}

// A Confirmation is a person's word that a machine no longer has a version.
type Confirmation struct {
	Version int64 `json:"version" stored:"identity"`
	machine.Person
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

const (
	// maxSaid is how many versions have their last report if the machine has none of them.
	maxSaid = 16
	// maxOrders is how many running orders of a version are listed.
	maxOrders = 20
	// maxConfirmed is how many confirmations are kept with their person. The audit trail has them all.
	maxConfirmed = 16
	// maxHad is how many versions that the machine has are kept, and mostOrders and mostOthers how many orders and other bytes of all
	// versions, so that the row and its event fit into the store.
	maxHad     = 32
	mostOrders = 100
	mostOthers = 50
)

// MachineDeviates is the event of a report of a version that does not hold on the machine, or of another content. It warns
// people.
const MachineDeviates = "MachineDeviates"

// about returns what the machine has said about a version.
func (m OnMachine) about(version int64) (Said, bool) {
	for _, s := range m.Versions {
		if s.Version == version {
			return s, true
		}
	}
	return Said{Version: version, State: Finished}, slices.Contains(m.Gone, version)
}

// running lists the orders that run with a version.
func (m OnMachine) running(version int64) []RunningOrder {
	var all []RunningOrder
	for _, o := range m.Orders {
		if o.Version == version {
			all = append(all, o)
		}
	}
	return all
}

// deviation returns how the machine deviates from a version.
func (m OnMachine) deviation(version int64) (Deviation, bool) {
	for _, d := range slices.Concat(m.Deviations, m.OtherBytes) {
		if d.Version == version {
			return d, true
		}
	}
	return Deviation{}, false
}

// confirmation returns the confirmation of a version.
func (m OnMachine) confirmation(version int64) (Confirmation, bool) {
	i := slices.IndexFunc(m.Confirmed, func(c Confirmation) bool { return c.Version == version })
	if i < 0 {
		return Confirmation{}, false
	}
	return m.Confirmed[i], true
}

// clear reports whether the machine, or a person for it, has confirmed that it does not have a version.
func (m OnMachine) clear(version int64) bool {
	s, spoke := m.about(version)
	if c, confirmed := m.confirmation(version); confirmed {
		return !s.State.has() || !s.Since.After(c.At)
	}
	d, deviates := m.deviation(version)
	return spoke && !s.State.has() && !(deviates && d.State.has()) && !slices.Contains(m.Unlisted, version) &&
		!slices.ContainsFunc(m.Orders, func(o RunningOrder) bool { return o.Version == version })
}

// reports reports whether the machine has said that it has a version, also with other bytes, and nobody has confirmed since
// that it does not.
func (m OnMachine) reports(version int64) bool { return m.SaysAbout(version) && !m.clear(version) }

// reported decides the result of a report about a version that holds on the machine, or does not. The event is empty if
// the machine has already said the same. A report that a machine has a withdrawn version is stored, and the machine is
// told what to do: see Version.recalls. A report of other bytes is stored, and refused: see Version.contradicts. It
// returns NOT_FOUND for a version that nobody approved.
func (m OnMachine) reported(r Report, v Version, holds bool, box string, at time.Time) (next OnMachine, event string, err error) {
	if !v.approvedOnce() {
		return m, "", problem.Missing()
	}
	next = m
	next.MethodID, next.FactoryID, next.EdgeID = v.MethodID, v.FactoryID, box
	if event = doings[r.State]; next.deviated(m, r, v, holds, at) {
		event = MachineDeviates
	}
	if r.ContentSHA256 == v.ContentSHA256 {
		next.says(m, r, v, at)
	}
	if r.State.has() {
		next.Confirmed = slices.DeleteFunc(slices.Clone(m.Confirmed), func(c Confirmation) bool { return c.Version == r.Version })
	}
	next.bound()
	if next.same(m) {
		return m, "", nil
	}
	return next.changed(m, at), event, nil
}

// bound keeps only the number of the oldest versions that the machine has, as if it had more orders than are listed, once it has too
// many. So it is clear of none that it may have.
func (m *OnMachine) bound() {
	for {
		var oldest int64
		switch {
		case len(m.Versions) > maxHad && slices.ContainsFunc(m.Versions, func(s Said) bool { return !s.State.has() }):
			m.forget()
			continue
		case len(m.Versions) > maxHad:
			oldest = m.Versions[0].Version
		case len(m.Orders) > mostOrders:
			oldest = slices.MinFunc(m.Orders, func(a, b RunningOrder) int { return cmp.Compare(a.Version, b.Version) }).Version
		case len(m.OtherBytes) > mostOthers:
			oldest = slices.MinFunc(m.OtherBytes, func(a, b Deviation) int { return cmp.Compare(a.Version, b.Version) }).Version
		case len(m.Deviations) > maxHad:
			oldest = m.Deviations[0].Version
		default:
			return
		}
		if !slices.Contains(m.Unlisted, oldest) {
			m.Unlisted = append(slices.Clone(m.Unlisted), oldest)
		}
		deviates := func(d Deviation) bool { return d.Version == oldest }
		m.Versions = slices.DeleteFunc(slices.Clone(m.Versions), func(s Said) bool { return s.Version == oldest })
		m.Orders = slices.DeleteFunc(slices.Clone(m.Orders), func(o RunningOrder) bool { return o.Version == oldest })
		m.Deviations = slices.DeleteFunc(slices.Clone(m.Deviations), deviates)
		m.OtherBytes = slices.DeleteFunc(slices.Clone(m.OtherBytes), deviates)
	}
}

func (m OnMachine) changed(was OnMachine, at time.Time) OnMachine {
	if was.Revision == 0 {
		m.CreatedAt = at
	}
	m.UpdatedAt, m.Revision = at, was.Revision+1
	m.Orders, m.Unlisted, m.Gone = orNil(m.Orders), orNil(m.Unlisted), orNil(m.Gone)
	m.Deviations, m.OtherBytes, m.Confirmed = orNil(m.Deviations), orNil(m.OtherBytes), orNil(m.Confirmed)
	return m
}

// orNil returns nil for an empty list, which would be stored, but never shown.
func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// same reports whether everything that was said is the same.
func (m OnMachine) same(was OnMachine) bool {
	return m.EdgeID == was.EdgeID && slices.Equal(m.Versions, was.Versions) && slices.Equal(m.Orders, was.Orders) &&
		slices.Equal(m.Unlisted, was.Unlisted) && slices.Equal(m.Deviations, was.Deviations) && slices.Equal(m.OtherBytes, was.OtherBytes) &&
		len(m.Confirmed) == len(was.Confirmed) && slices.Equal(slices.Sorted(slices.Values(m.Gone)), slices.Sorted(slices.Values(was.Gone)))
}

// deviated notes whether a report deviates, and reports whether that is new. A machine that continues with a version
// which it had when that held does not deviate; a withdrawal tells what becomes of its orders.
func (m *OnMachine) deviated(was OnMachine, r Report, v Version, holds bool, at time.Time) bool {
	if m.hasOthers(was, r, v, at) {
		return false
	}
	before, known := was.deviation(r.Version)
	known = known && before.ContentSHA256 == r.ContentSHA256
	if !r.State.has() && !known {
		return false
	}
	m.Deviations = slices.DeleteFunc(slices.Clone(was.Deviations), func(d Deviation) bool { return d.Version == r.Version })
	right := r.ContentSHA256 == v.ContentSHA256
	if !r.State.has() || right && (holds || v.Status == Withdrawn || !known && was.goesOn(r)) {
		return false
	}
	d := Deviation{r.Version, r.ContentSHA256, r.State, r.Order, at}
	if known && before.State == d.State && before.Order == d.Order {
		d = before
	}
	m.Deviations = append(m.Deviations, d)
	return d != before
}

// hasOthers notes which other bytes of a version the machine has after a report, and reports whether it has said before
// that it has the report's. A finished order takes back only what was said of it and its bytes.
func (m *OnMachine) hasOthers(was OnMachine, r Report, v Version, at time.Time) (known bool) {
	ofVersion := func(d Deviation) bool { return d.Version == r.Version }
	own := slices.DeleteFunc(slices.Clone(was.OtherBytes), func(d Deviation) bool { return !ofVersion(d) })
	all := slices.Clone(own)
	right, d := r.ContentSHA256 == v.ContentSHA256, Deviation{r.Version, r.ContentSHA256, r.State, r.Order, at}
	if slices.ContainsFunc(all, d.saysAs) {
		return true
	}
	all = slices.DeleteFunc(all, func(o Deviation) bool {
		switch {
		case r.State == Loaded:
			return o.State == Loaded
		case right:
			return r.State == Running && (o.State == Loaded || o.Order == r.Order)
		default:
			return !r.State.has() && o.ContentSHA256 == r.ContentSHA256 && (r.Order == "" || o.State == Loaded || o.Order == r.Order)
		}
	})
	switch {
	case right || !r.State.has():
	case len(all) < maxOrders:
		all = append(all, d)
	case !slices.Contains(was.Unlisted, r.Version):
		m.Unlisted = append(slices.Clone(was.Unlisted), r.Version)
	}
	if !slices.Equal(all, own) {
		m.OtherBytes = append(slices.DeleteFunc(slices.Clone(was.OtherBytes), ofVersion), all...)
	}
	return false
}

// saysAs reports whether two deviations say the same, at whatever time.
func (d Deviation) saysAs(o Deviation) bool {
	o.Since = d.Since
	return d == o
}

// goesOn reports whether the machine has already said that it has the version, and begins no other order.
func (m OnMachine) goesOn(r Report) bool {
	s, spoke := m.about(r.Version)
	return spoke && s.State.has() &&
		(r.State == Loaded || slices.ContainsFunc(m.running(r.Version), func(o RunningOrder) bool { return o.Order == r.Order }))
}

// says stores the report of a version. The version's state is running as long as one of its orders runs.
func (m *OnMachine) says(was OnMachine, r Report, v Version, at time.Time) {
	said := Said{Version: r.Version, ContentSHA256: r.ContentSHA256, State: r.State, Since: at, Order: r.Order, Detail: r.Detail}
	orders := was.running(r.Version)
	m.Unlisted = slices.Clone(was.Unlisted)
	known := slices.IndexFunc(orders, func(o RunningOrder) bool { return o.Order == r.Order })
	unlisted := slices.Index(m.Unlisted, r.Version)
	switch {
	case r.State == Running && known < 0 && len(orders) < maxOrders:
		orders = append(orders, RunningOrder{r.Version, r.Order, at})
	case r.State == Running && known < 0 && unlisted < 0:
		m.Unlisted = append(m.Unlisted, r.Version)
	case r.State.has():
	case r.Order == "": // about all orders
		orders = nil
		if unlisted >= 0 && !slices.ContainsFunc(m.OtherBytes, func(d Deviation) bool { return d.Version == r.Version }) {
			m.Unlisted = slices.Delete(m.Unlisted, unlisted, unlisted+1)
		}
	case known >= 0:
		orders = slices.Delete(orders, known, known+1)
	}
	if r.State != Running && len(orders) > 0 {
		said.State, said.Order = Running, orders[len(orders)-1].Order
	} else if slices.Contains(m.Unlisted, r.Version) {
		said.State = Running
	}
	m.Orders = append(slices.DeleteFunc(slices.Clone(was.Orders), func(o RunningOrder) bool { return o.Version == r.Version }), orders...)
	before, spoke := was.about(r.Version)
	if spoke && before.State == said.State && !before.Since.IsZero() {
		said.Since = before.Since
	}
	said.Told, said.ToldAt = before.Told, before.ToldAt
	if v.Status == Withdrawn && said.Told != v.Orders {
		said.Told, said.ToldAt = v.Orders, &at
	}
	m.Gone = slices.DeleteFunc(slices.Clone(was.Gone), func(n int64) bool { return n == r.Version })
	m.Versions = slices.DeleteFunc(slices.Clone(was.Versions), func(s Said) bool { return s.Version == r.Version })
	if len(m.Versions) >= maxSaid {
		m.forget()
	}
	m.Versions = append(m.Versions, said)
	slices.SortFunc(m.Versions, func(a, b Said) int { return cmp.Compare(a.Version, b.Version) })
}

// forget shortens what was said about the oldest version that the machine does not have. It forgets nothing about the
// others, since a recall must find each machine that has a version.
func (m *OnMachine) forget() {
	if i := slices.IndexFunc(m.Versions, func(s Said) bool { return !s.State.has() }); i >= 0 {
		m.Gone = append(m.Gone, m.Versions[i].Version)
		m.Versions = slices.Delete(m.Versions, i, i+1)
	}
}

// confirm decides the result of a person's word that the machine no longer has a version. The event is empty if the
// person has already said so.
func (m OnMachine) confirm(v Version, code string, c Confirmation) (next OnMachine, event string, err error) {
	if was, confirmed := m.confirmation(v.Version); confirmed && m.clear(v.Version) && was.Issuer == c.Issuer && was.UserID == c.UserID && was.Reason == c.Reason {
		return m, "", nil
	}
	if m.clear(v.Version) {
		return m, "", problem.New(problem.InvalidStateTransition, "Machine %s is confirmed already not to have version %d.", code, v.Version)
	}
	next = m
	next.MethodID, next.FactoryID, next.Machine = v.MethodID, v.FactoryID, code
	next.Confirmed = append(slices.DeleteFunc(slices.Clone(m.Confirmed), func(was Confirmation) bool { return was.Version == c.Version }), c)
	if len(next.Confirmed) > maxConfirmed {
		oldest := next.Confirmed[0].Version
		next.Gone, next.Confirmed = append(slices.Clone(m.Gone), oldest), next.Confirmed[1:]
		next.Versions = slices.DeleteFunc(slices.Clone(m.Versions), func(s Said) bool { return s.Version == oldest })
		next.Orders = slices.DeleteFunc(slices.Clone(m.Orders), func(o RunningOrder) bool { return o.Version == oldest })
		next.Unlisted = slices.DeleteFunc(slices.Clone(m.Unlisted), func(n int64) bool { return n == oldest })
		deviates := func(d Deviation) bool { return d.Version == oldest }
		next.Deviations = slices.DeleteFunc(slices.Clone(m.Deviations), deviates)
		next.OtherBytes = slices.DeleteFunc(slices.Clone(m.OtherBytes), deviates)
	}
	return next.changed(m, c.At), "MachineConfirmedByPerson", nil
}
