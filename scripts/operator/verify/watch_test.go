package verify

import (
	"testing"
	"time"

	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/expect"
)

// TestLeftSince_ByWhatWasSaid: version 1 was withdrawn at minute 10.
func TestLeftSince_ByWhatWasSaid(t *testing.T) {
	minute := func(n int) time.Time { return time.Date(2026, 3, 1, 12, n, 0, 0, time.UTC) }
	said := func(at int, d method.Doing) method.OnMachine {
		return method.OnMachine{Versions: []method.Said{{Version: 1, State: d, Since: minute(at)}}, UpdatedAt: minute(at)}
	}
	v := version{Version: 1, UpdatedAt: minute(10), Equipment: method.Equipment{Machines: []string{"press-1"}}}
	for name, c := range map[string]struct {
		machine string
		past    []method.OnMachine
		want    int
	}{
		"said nothing":                         {"press-1", nil, 10},
		"has it since before":                  {"press-1", []method.OnMachine{said(5, method.Loaded)}, 10},
		"first said after it":                  {"press-1", []method.OnMachine{said(20, method.Running)}, 10},
		"first said after it, not named":       {"saw-1", []method.OnMachine{said(20, method.Running)}, 20},
		"about another version, not named":     {"saw-1", []method.OnMachine{{UpdatedAt: minute(15)}, said(20, method.Running), said(30, method.Loaded)}, 20},
		"reported again":                       {"press-1", []method.OnMachine{said(5, method.Loaded), said(20, method.Finished), said(30, method.Loaded), said(40, method.Running)}, 30},
		"reported again before it, and has it": {"press-1", []method.OnMachine{said(5, method.Finished), said(6, method.Loaded)}, 10},
		"reported again after a confirmation":  {"press-1", []method.OnMachine{{Confirmed: []method.Confirmation{{Version: 1, At: minute(15)}}, UpdatedAt: minute(15)}, said(20, method.Loaded)}, 20},
		"reported again, twice, and not named": {"saw-1", []method.OnMachine{said(5, method.Loaded), said(20, method.Finished), said(30, method.Loaded), said(40, method.Finished), said(50, method.Loaded)}, 50},
	} {
		t.Run(name, func(t *testing.T) {
			r := report{past: c.past, on: machine.Machine{Code: c.machine}}
			expect.Equal(t, r.leftSince(v), minute(c.want), "on the list since")
		})
	}
}
