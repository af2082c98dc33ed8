package content

import (
	"slices"
	"strings"
)

// For is what of a content is for one machine, as JSON pointers into it (RFC 6901).
type For struct {
	Steps []string `json:"steps"` // that the machine does, in their order
	// Parameters are the overrides for the machine, each in place of its parameter's own value. All other parameters of its steps
	// apply as they are.
	Parameters []string `json:"parameters,omitempty"`
	Documents  []string `json:"documents,omitempty"` // of its steps, for all machines or this one
}

// For returns what is for a machine that does some steps.
func (c Content) For(machine string, does func(Stop) bool) For {
	f := For{Steps: []string{}}
	for i, s := range c.steps {
		at := pointerOf("steps", i)
		if !s.byMachine() || !does(s.stop(i)) {
			continue
		}
		f.Steps = append(f.Steps, at)
		for _, n := range s.named {
			if n.machine == machine && strings.HasPrefix(n.pointer, "/parameters/") {
				f.Parameters = append(f.Parameters, at+strings.TrimSuffix(n.pointer, "/machine"))
			}
		}
		for d, machines := range s.documents {
			if len(machines) == 0 || slices.Contains(machines, machine) {
				f.Documents = append(f.Documents, at+pointerOf("documents", d))
			}
		}
	}
	return f
}

// byMachine reports whether machines do the step. Others are done by hand.
func (s step) byMachine() bool { return s.class != "" || len(s.machines) > 0 }

func (s step) stop(i int) Stop { return Stop{pointerOf("steps", i), s.id, s.class, s.machines} }
