package machine

import (
	"testing"
	"time"
)

func TestRegister_DecidesByWhatTheMachineIs(t *testing.T) {
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := made.Add(time.Hour)
	there := Machine{FactoryID: "munich-1", Code: "press-1", Name: "Press", CreatedAt: made, UpdatedAt: made, Revision: 2}
	for name, c := range map[string]struct {
		was   Machine
		named string
		next  Machine
		event string
	}{
		"new":           {Machine{}, "Press", Machine{"munich-1", "press-1", "Press", at, at, 1}, "MachineRegistered"},
		"what is there": {there, "Press", there, ""},
		"another name":  {there, "Press 1", Machine{"munich-1", "press-1", "Press 1", made, at, 3}, "MachineRenamed"},
	} {
		if next, event := c.was.register("munich-1", "press-1", c.named, at); next != c.next || event != c.event {
			t.Errorf("%s: got %+v, %q", name, next, event)
		}
	}
}
