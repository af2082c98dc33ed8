package edge

import (
	"testing"
	"time"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	anna = audit.Person{Issuer: "https://people.example", UserID: "anna"}
)

func ordered(version string, order int64) release.Release {
	return release.Release{EdgeType: "gateway-x", Version: version, Bound: release.Bound{Lineage: release.Lineage{Order: order}}}
}

func TestPinned_EachRefusal(t *testing.T) {
	one, two := ordered("1.0.0", 1), ordered("2.0.0", 2)
	described := one
	described.Details = release.Details{SizeBytes: 1, SHA1: "a"}
	running := report.Row{EdgeType: "gateway-x", Running: "2.0.0"}
	ddi := running
	ddi.DDI = true
	for name, c := range map[string]struct {
		asked    PinRequest
		row      report.Row
		is, runs release.Release
		refused  problem.Code
	}{
		"to what it runs":                         {PinRequest{Installed: true}, running, two, two, ""},
		"up":                                      {PinRequest{Version: "2.0.0"}, running, two, one, ""},
		"down":                                    {PinRequest{Version: "1.0.0"}, running, one, two, problem.DowngradeRefused},
		"down, allowed":                           {PinRequest{Version: "1.0.0", AllowDowngrade: true}, running, one, two, ""},
		"a box that never reported":               {PinRequest{Version: "1.0.0"}, report.Row{}, one, release.Release{}, ""},
		"to what it runs, which it never said":    {PinRequest{Installed: true}, report.Row{}, release.Release{}, release.Release{}, problem.EdgeNotReported},
		"to what it runs, which is no release":    {PinRequest{Installed: true}, running, release.Release{}, release.Release{}, problem.ReleaseNotPublished},
		"a version that was never published":      {PinRequest{Version: "3.0.0"}, running, release.Release{}, two, problem.ReleaseNotPublished},
		"DDI, without size and SHA-1":             {PinRequest{Version: "2.0.0"}, ddi, two, one, problem.Conflict},
		"DDI, with both":                          {PinRequest{Version: "1.0.0"}, ddi, described, one, ""},
		"until now":                               {PinRequest{Version: "2.0.0", Until: new(noon)}, running, two, two, problem.ValidationFailed},
		"until a moment later":                    {PinRequest{Version: "2.0.0", Until: new(noon.Add(time.Millisecond))}, running, two, two, ""},
		"for a year":                              {PinRequest{Version: "2.0.0", Until: new(noon.Add(longestPin))}, running, two, two, ""},
		"for longer than a year":                  {PinRequest{Version: "2.0.0", Until: new(noon.Add(longestPin + time.Millisecond))}, running, two, two, problem.ValidationFailed},
		"for longer than a year, and unpublished": {PinRequest{Version: "3.0.0", Until: new(noon)}, running, release.Release{}, two, problem.ValidationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			pin, err := c.asked.pinned(c.row, c.is, c.runs, anna, noon)
			if c.refused != "" {
				expect.Equal(t, problem.From(err).Code, c.refused, "the refusal")
				return
			}
			expect.OK(t, err)
			expect.Equal(t, pin.Version, c.is.Version, "the pin's version")
		})
	}
}

func TestPinned_Again_HasANewEnd_AndTheSameChangesNothing(t *testing.T) {
	is := ordered("2.0.0", 2)
	row := report.Row{Running: "2.0.0"}
	first := expect.Value(PinRequest{Version: "2.0.0", Reason: "a test"}.pinned(row, is, is, anna, noon))(t)
	expect.Equal(t, *first, report.Pin{Version: "2.0.0", Reason: "a test", Until: noon.Add(30 * 24 * time.Hour), At: noon, By: anna}, "by default")
	row.Pin = first
	later := noon.Add(time.Hour)
	again := expect.Value(PinRequest{Version: "2.0.0", Reason: "a test"}.pinned(row, is, is, anna, later))(t)
	expect.Equal(t, *again, report.Pin{Version: "2.0.0", Reason: "a test", Until: later.Add(usualPin), At: noon, By: anna}, "pinned again")
	same, err := PinRequest{Version: "2.0.0", Reason: "a test", Until: &first.Until}.pinned(row, is, is, audit.Person{UserID: "bob"}, later)
	expect.OK(t, err)
	expect.That(t, same == first, "the same pin is %+v", same)
}

// TestAssign_EachEventOfAHold is the rest of that table.
func TestAssign_EachEventOfAHold(t *testing.T) {
	pin := &report.Pin{Version: "1.0.0", At: noon, Until: noon.Add(time.Hour), By: anna}
	bob := audit.Person{UserID: "bob"}
	hold := &report.Hold{Since: noon.Add(-time.Hour), By: bob}
	at := noon.Add(time.Minute)
	by := func(change func(*Assignment)) func(*Assignment) {
		return func(a *Assignment) {
			a.by = anna
			change(a)
		}
	}
	now := &report.Hold{Since: at, By: anna}
	for name, c := range map[string]struct {
		pin    *report.Pin
		hold   *report.Hold
		at     time.Time
		change func(*Assignment)
		want   *report.Hold // in force afterwards
	}{
		"free, moved":                {nil, nil, at, func(a *Assignment) { a.Channel = "beta" }, now},
		"free, moved, may go back":   {nil, nil, at, func(a *Assignment) { a.Channel, a.AllowDowngrade = "beta", true }, nil},
		"free, to another owner":     {nil, hold, at, func(a *Assignment) { a.OrganizationID = "other" }, now},
		"free, of another type":      {nil, nil, at, func(a *Assignment) { a.EdgeType = "gateway-y" }, nil},
		"free, in another factory":   {nil, nil, at, func(a *Assignment) { a.FactoryID = new("munich") }, nil},
		"held, in another factory":   {nil, hold, at, func(a *Assignment) { a.FactoryID = new("munich") }, hold},
		"held, moved":                {nil, hold, at, func(a *Assignment) { a.Channel = "beta" }, now},
		"held, may go back":          {nil, hold, at, func(a *Assignment) { a.AllowDowngrade = true }, nil},
		"pinned":                     {pin, nil, at, func(*Assignment) {}, nil},
		"pinned, moved":              {pin, nil, at, func(a *Assignment) { a.Channel = "beta" }, now},
		"pinned, unpinned":           {pin, nil, at, func(a *Assignment) { a.Pin = &PinRequest{Remove: true} }, now},
		"pinned, and may go back":    {pin, nil, at, func(a *Assignment) { a.Pin, a.AllowDowngrade = &PinRequest{Remove: true}, true }, nil},
		"ended":                      {pin, hold, pin.Until, func(*Assignment) {}, &report.Hold{Since: pin.Until, By: anna}},
		"ended, in another factory":  {pin, nil, pin.Until, func(a *Assignment) { a.FactoryID = new("munich") }, &report.Hold{Since: pin.Until, By: anna}},
		"ended, and the pin removed": {pin, nil, pin.Until, func(a *Assignment) { a.Pin = &PinRequest{Remove: true} }, &report.Hold{Since: pin.Until, By: anna}},
		"ended, may go back":         {pin, nil, pin.Until, func(a *Assignment) { a.AllowDowngrade = true }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			box := Edge{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", Pin: c.pin, Hold: c.hold, Revision: 1}
			a := Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme"}
			by(c.change)(&a)
			next, _, _ := box.assign("box-1", a, boxtoken.Live{}, c.at)
			expect.Equal(t, report.Holding(next.Pin, next.Hold, c.at), c.want, "the hold")
			retired, _, err := next.retire(noon)
			expect.That(t, err == nil && retired.Hold == nil, "a retired box is held: %+v, %v", retired, err)
		})
	}
}

// TestAssign_EachEventOfAPin is the table of events and states, as far as it is about pins.
func TestAssign_EachEventOfAPin(t *testing.T) {
	pin := &report.Pin{Version: "1.0.0", At: noon, Until: noon.Add(time.Hour)}
	other := &report.Pin{Version: "2.0.0", At: noon, Until: noon.Add(2 * time.Hour)}
	asks := func(p *report.Pin) func(*Assignment) {
		return func(a *Assignment) { a.Pin, a.made = &PinRequest{Version: p.Version}, p }
	}
	stable := Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme"}
	for name, c := range map[string]struct {
		was    *report.Pin
		after  time.Duration
		change func(*Assignment)
		now    *report.Pin
		event  bool
	}{
		"free, pinned":                    {nil, 0, asks(pin), pin, true},
		"pinned, pinned again":            {pin, 0, asks(other), other, true},
		"pinned, pinned to the same":      {pin, 0, asks(pin), pin, false},
		"pinned, unpinned":                {pin, 0, func(a *Assignment) { a.Pin = &PinRequest{Remove: true} }, nil, true},
		"free, unpinned":                  {nil, 0, func(a *Assignment) { a.Pin = &PinRequest{Remove: true} }, nil, false},
		"pinned, moved":                   {pin, 0, func(a *Assignment) { a.Channel = "beta" }, pin, true},
		"pinned, nothing said":            {pin, 0, func(*Assignment) {}, pin, false},
		"pinned, to another organization": {pin, 0, func(a *Assignment) { a.OrganizationID = "other" }, nil, true},
		"pinned, of another type":         {pin, 0, func(a *Assignment) { a.EdgeType = "gateway-y" }, nil, true},
		"ended, nothing said":             {pin, time.Hour, func(*Assignment) {}, pin, false},
		"ended, moved":                    {pin, time.Hour, func(a *Assignment) { a.Channel = "beta" }, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			box := Edge{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", Pin: c.was, Revision: 1}
			a := stable
			c.change(&a)
			next, _, event := box.assign("box-1", a, boxtoken.Live{}, noon.Add(c.after))
			expect.That(t, next.Pin == c.now && (event != "") == c.event,
				"the pin is %+v, the event %q", next.Pin, event)
			retired, _, err := next.retire(noon)
			expect.That(t, err == nil && retired.Pin == nil, "a retired box is pinned: %+v, %v", retired, err)
		})
	}
}
