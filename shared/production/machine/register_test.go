package machine

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestRegister_ByPresentMachine(t *testing.T) {
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := made.Add(time.Hour)
	there := Machine{FactoryID: "munich-1", Code: "press-1", Name: "Press", CreatedAt: made, UpdatedAt: made, Revision: 2}
	of := func(name string, made time.Time, revision int64, classes map[string]time.Time) Machine {
		return Machine{FactoryID: "munich-1", Code: "press-1", Name: name, Classes: slices.Sorted(maps.Keys(classes)), ClassesSince: classes,
			CreatedAt: made, UpdatedAt: at, Revision: revision}
	}
	classed, boxed, unboxed := there, there, there
	classed.Classes, classed.ClassesSince = []string{"mill", "saw"}, map[string]time.Time{"mill": made, "saw": made}
	boxed.EdgeID = "box-1"
	unboxed.UpdatedAt, unboxed.Revision = at, 3
	withBox := unboxed
	withBox.EdgeID = "box-1"
	type since = map[string]time.Time
	for name, c := range map[string]struct {
		was   Machine
		wish  Registration
		next  Machine
		event string
	}{
		"new":                    {Machine{}, Registration{Name: "Press"}, of("Press", at, 1, nil), "MachineRegistered"},
		"new, of two classes":    {Machine{}, Registration{Name: "Press", Classes: []string{"saw", "mill"}}, of("Press", at, 1, since{"mill": at, "saw": at}), "MachineRegistered"},
		"the same values":        {there, Registration{Name: "Press"}, there, ""},
		"another name":           {there, Registration{Name: "Press 1"}, of("Press 1", made, 3, nil), "MachineRenamed"},
		"classes missing":        {classed, Registration{Name: "Press"}, classed, ""},
		"the same classes":       {classed, Registration{Name: "Press", Classes: []string{"saw", "mill"}}, classed, ""},
		"one class fewer":        {classed, Registration{Name: "Press", Classes: []string{"mill"}}, of("Press", made, 3, since{"mill": made}), "MachineClassesChanged"},
		"one class more":         {classed, Registration{Name: "Press", Classes: []string{"mill", "ream", "saw"}}, of("Press", made, 3, since{"mill": made, "ream": at, "saw": made}), "MachineClassesChanged"},
		"classes removed":        {classed, Registration{Name: "Press", Classes: []string{}}, of("Press", made, 3, nil), "MachineClassesChanged"},
		"another name and class": {classed, Registration{Name: "Saw", Classes: []string{"saw"}}, of("Saw", made, 3, since{"saw": made}), "MachineRenamed"},
		"a box":                  {there, Registration{Name: "Press", EdgeID: new("box-1")}, withBox, "MachineBoxChanged"},
		"the same box":           {boxed, Registration{Name: "Press", EdgeID: new("box-1")}, boxed, ""},
		"a box, not mentioned":   {boxed, Registration{Name: "Press"}, boxed, ""},
		"box removed":            {boxed, Registration{Name: "Press", EdgeID: new("")}, unboxed, "MachineBoxChanged"},
	} {
		next, event, err := c.was.register("munich-1", "press-1", c.wish, signing{number: 4}, at)
		next.ClassTerms = nil // TestTerms_* compare them
		if err != nil || !reflect.DeepEqual(next, c.next) || event != c.event {
			t.Errorf("%s: got %+v, %q, %v", name, next, event, err)
		}
	}
}
