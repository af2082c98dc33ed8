// Package content implements the content of a production method's version: a list of steps. Each step has its
// equipment, times, parameters with limits, inputs, outputs, checks and documents. The terms follow ISA-88 and ISA-95.
//
// A content is identified by the SHA-256 of its canonical bytes (RFC 8785). The service changes only the spelling of
// what a caller sends. So anyone can compute the hash with an RFC 8785 library.
package content

import (
	"slices"
	"strings"

	"wavegate/shared/platform/canonical"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// MaxBytes limits the size of a content, as sent and in canonical form.
const MaxBytes = 64 << 10

// A Content is a content without faults.
type Content struct {
	bytes []byte
	steps []step
	units []inUnit
}

// A step is the part of a step that the rules need.
type step struct {
	id       string
	named    []named  // machines that overrides and documents name
	class    string   // of the equipment, or empty
	machines []string // that can do the step, or none
	run      bool     // the step has a run time
	// documents are the machines that each document is for; none: for all.
	documents [][]string
	outputs   bool // the step has an output
}

// named is a machine that a part of a step names.
type named struct{ pointer, machine string }

// A Stop is a step that a machine does: any machine of a class, or one of some machines.
type Stop struct {
	Pointer  string // of the step
	ID       string // of the step
	Class    string
	Machines []string
}

// Equipment says which machines do the step.
func (s Stop) Equipment() string {
	if s.Class != "" {
		return "class " + s.Class
	}
	return strings.Join(s.Machines, ", ")
}

// Route lists the steps that machines do, in order. Steps without equipment are done by hand.
func (c Content) Route() []Stop {
	var route []Stop
	for i, s := range c.steps {
		if s.byMachine() {
			route = append(route, s.stop(i))
		}
	}
	return route
}

// Named lists the machines that steps, overrides and documents name, each once, in order.
func (c Content) Named() []string {
	all := c.Machines()
	for _, s := range c.steps {
		for _, n := range s.named {
			all = append(all, n.machine)
		}
	}
	return sorted(all)
}

// Parse reads a content, or returns all its faults.
func Parse(text []byte) (Content, []problem.Fault) {
	return input.Parse(text, Read)
}

// Read reads a content from an object. The result is only valid if the object has no faults.
func Read(o *input.Object) Content {
	r := reader{}
	c := Content{steps: r.content(o)}
	c.units = r.units
	bytes, err := canonical.JSON(o.Source())
	if err == nil && len(bytes) > MaxBytes {
		o.Fault("", "length", "must have at most 65536 bytes in its canonical form")
	}
	c.bytes = bytes
	attributes(o)
	return c
}

// Bytes returns the canonical bytes.
func (c Content) Bytes() []byte { return c.bytes }

// SHA256 returns the hash of the canonical bytes, in hexadecimal.
func (c Content) SHA256() string { return canonical.SHA256(c.bytes) }

// Machines lists the machines that steps name, each once, in order.
func (c Content) Machines() []string {
	var all []string
	for _, s := range c.steps {
		all = append(all, s.machines...)
	}
	return sorted(all)
}

// Classes lists the classes of equipment that steps name, each once, in order.
func (c Content) Classes() []string {
	var all []string
	for _, s := range c.steps {
		if s.class != "" {
			all = append(all, s.class)
		}
	}
	return sorted(all)
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// Missing lists why a content is incomplete for production, with pointers into it. It needs a step, a run time in each
// step, at least one output, and only machines of the factory. exists reports whether the factory has a machine and, if
// a class is given, the machine has that class.
func (c Content) Missing(exists func(machine, class string) bool) []problem.Fault {
	var faults []problem.Fault
	add := func(pointer, code, detail string) {
		faults = append(faults, problem.Fault{Pointer: pointer, Code: code, Detail: detail})
	}
	if len(c.steps) == 0 {
		add("/steps", "required", "must have a step")
		return faults
	}
	outputs := false
	for i, s := range c.steps {
		at := pointerOf("steps", i)
		if !s.run {
			add(at+"/run", "required", "is required for production")
		}
		for j, machine := range s.machines {
			if !exists(machine, "") {
				add(at+pointerOf("equipment/machines", j), "reference", "must be a machine of the factory")
			}
		}
		for _, n := range s.named {
			if len(s.machines) == 0 && !exists(n.machine, s.class) { // those in a list were checked
				add(at+n.pointer, "reference", "must be a machine of the factory that does the step")
			}
		}
		outputs = outputs || s.outputs
	}
	if !outputs {
		add("/steps", "required", "must have an output in at least one step")
	}
	return faults
}
