package main

import (
	"slices"

	"wavegate/shared/operations"
	"wavegate/shared/operations/door"
)

// addDoor makes the function that answers boxes with tokens of their own at its own URL, if the settings ask for it. It
// comes after the bell, of which it tells boxes, and before the operations, which tell boxes of it.
func (s *service) addDoor() {
	if !s.settings.Door {
		return
	}
	op := door.Function
	if s.settings.ForeignTokens {
		op.Grants = slices.Concat(op.Grants, operations.ForeignGrants)
	}
	s.add(functionSpec{
		name: op.ID, description: op.Summary, memoryMB: op.MemoryMB, timeout: op.Timeout,
		grants: op.Grants, environment: s.operationEnvironment(op), secret: s.secretOf(op),
		reserved: s.settings.Concurrency.of(op.ID, op), sampled: op.Sampled, untraced: true,
	})
	s.doorURL = s.urlOf(op.ID, "door")
	s.output("DoorUrl", "The URL at which boxes with tokens of their own may call", s.doorURL)
}

// checkDoor checks the bound on the cost of strangers' calls.
func (s Settings) checkDoor(r *reader) {
	if s.Door && s.Concurrency.Door == 0 {
		r.fault("door: nothing would bound the cost of strangers' calls; set accountConcurrency to 200 or more, or reserveDoor")
	}
}

// doorAlarms check that boxes at the door get answers.
func (w *watch) doorAlarms() []alarm {
	if !w.settings.Door {
		return nil
	}
	return []alarm{w.unanswered(operations.Door, "door-full", "The door does not answer boxes: Lambda refuses to run it, or it fails.")}
}
