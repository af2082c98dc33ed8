package machine

import (
	"reflect"
	"testing"
	"time"
)

func TestRegister_ByPresentMachine(t *testing.T) {
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := made.Add(time.Hour)
	there := Machine{FactoryID: "munich-1", Code: "press-1", Name: "Press", CreatedAt: made, UpdatedAt: made, Revision: 2}
	of := func(name string, classes []string, made time.Time, revision int64) Machine {
		return Machine{"munich-1", "press-1", name, classes, made, at, revision}
	}
	classed := there
	classed.Classes = []string{"mill", "saw"}
	for name, c := range map[string]struct {
		was   Machine
		wish  Registration
		next  Machine
		event string
	}{
		"new":                    {Machine{}, Registration{Name: "Press"}, of("Press", nil, at, 1), "MachineRegistered"},
		"new, of two classes":    {Machine{}, Registration{"Press", []string{"saw", "mill"}}, of("Press", []string{"mill", "saw"}, at, 1), "MachineRegistered"},
		"the same values":        {there, Registration{Name: "Press"}, there, ""},
		"another name":           {there, Registration{Name: "Press 1"}, of("Press 1", nil, made, 3), "MachineRenamed"},
		"classes missing":        {classed, Registration{Name: "Press"}, classed, ""},
		"the same classes":       {classed, Registration{"Press", []string{"saw", "mill"}}, classed, ""},
		"other classes":          {classed, Registration{"Press", []string{"mill"}}, of("Press", []string{"mill"}, made, 3), "MachineClassesChanged"},
		"classes removed":        {classed, Registration{"Press", []string{}}, of("Press", nil, made, 3), "MachineClassesChanged"},
		"another name and class": {classed, Registration{"Saw", []string{"saw"}}, of("Saw", []string{"saw"}, made, 3), "MachineRenamed"},
	} {
		if next, event := c.was.register("munich-1", "press-1", c.wish, at); !reflect.DeepEqual(next, c.next) || event != c.event {
			t.Errorf("%s: got %+v, %q", name, next, event)
		}
	}
}
