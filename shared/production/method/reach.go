package method

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/content"
	"wavegate/shared/production/machine"
)

// known are machines of a factory, by their codes.
type known map[string]machine.Machine

// exists reports whether there is a machine and, if a class is given, has that class.
func (all known) exists(code, class string) bool {
	m, found := all[code]
	return found && (class == "" || slices.Contains(m.Classes, class))
}

// does reports whether a machine does a step.
func does(m machine.Machine, s content.Stop) bool {
	return slices.Contains(s.Machines, m.Code) || s.Class != "" && slices.Contains(m.Classes, s.Class)
}

// complete checks that a version is complete for production, and that a trial or release reaches
// the machines that it must. It returns the conditions on the machines that it depends on, and puts the content into c.
func (s *Store) complete(ctx context.Context, v Version, move Move, c *content.Content) (_ []dynamo.TransactItem, err error) {
	if *c, err = s.parsed(ctx, v); err != nil {
		return nil, err
	}
	named, err := s.named(ctx, v.FactoryID, slices.Concat(c.Named(), move.Machines))
	if err != nil {
		return nil, err
	}
	if faults := c.Missing(named.exists); len(faults) > 0 {
		return nil, refused(problem.MethodIncomplete, faults, "The content of version %d is incomplete for production; the pointers in errors refer to it.", v.Version)
	}
	switch move.Status {
	case Trial:
		if err := checkTrial(c.Route(), named, move.Machines, v.Version); err != nil {
			return nil, err
		}
		return conditionsOn(named, v.FactoryID, move.Machines), nil
	case Released:
		witnesses, err := s.witnesses(ctx, v.FactoryID, c.Classes())
		if err != nil {
			return nil, err
		}
		if err := checkRelease(c.Route(), witnesses, v.Version); err != nil {
			return nil, err
		}
		var codes []string
		for _, m := range witnesses {
			codes = append(codes, m.Code)
		}
		return conditionsOn(witnesses, v.FactoryID, codes), nil
	}
	return nil, nil
}

// checkTrial refuses a trial that would mix versions within an order: each step of the route needs a machine of the
// trial, and each machine of the trial needs a step.
func checkTrial(route []content.Stop, named known, trial []string, version int64) error {
	var unknown, idle, left []problem.Fault
	for i, code := range trial {
		at := "/machines/" + strconv.Itoa(i)
		switch m, found := named[code]; {
		case !found:
			unknown = append(unknown, problem.Fault{Pointer: at, Code: "reference", Detail: "must be a machine of the factory"})
		case !slices.ContainsFunc(route, func(s content.Stop) bool { return does(m, s) }):
			idle = append(idle, problem.Fault{Pointer: at, Code: "reference", Detail: "must be a machine that does a step"})
		}
	}
	for _, s := range route {
		if !slices.ContainsFunc(trial, func(code string) bool { m, found := named[code]; return found && does(m, s) }) {
			left = append(left, problem.Fault{Pointer: s.Pointer, Code: "required", Detail: "step " + s.ID + " needs a machine of the trial: " + s.Equipment()})
		}
	}
	switch {
	case len(unknown) > 0:
		return refused(problem.MethodIncomplete, unknown, "The trial names machines that the factory does not have.")
	case len(idle) > 0:
		return refused(problem.ReachesNothing, idle, "The trial names machines that do no step of version %d.", version)
	case len(left) > 0:
		return refused(problem.TrialSplitsRoute, left, "The trial leaves out steps of version %d, so one order would be made with two versions; the pointers in errors refer to its content.", version)
	}
	return nil
}

// checkRelease refuses a release that reaches no machine, or a class that no machine has.
func checkRelease(route []content.Stop, witnesses known, version int64) error {
	var faults []problem.Fault
	for _, s := range route {
		if s.Class == "" {
			continue // its machines were checked
		}
		found := false
		for _, m := range witnesses {
			found = found || does(m, s)
		}
		if !found {
			faults = append(faults, problem.Fault{Pointer: s.Pointer + "/equipment/class", Code: "reference", Detail: "must be a class that a machine of the factory has"})
		}
	}
	if len(route) == 0 {
		faults = append(faults, problem.Fault{Pointer: "/steps", Code: "required", Detail: "must have a step with equipment; for work by hand, name the machine or terminal that shows it"})
	}
	if len(faults) > 0 {
		return refused(problem.ReachesNothing, faults, "The release of version %d would not reach a machine; the pointers in errors refer to its content.", version)
	}
	return nil
}

func refused(code problem.Code, faults []problem.Fault, format string, args ...any) error {
	p := problem.New(code, "%s", fmt.Sprintf(format, args...))
	p.Faults = faults
	return p
}

// named reads machines, and skips those that the factory does not have.
func (s *Store) named(ctx context.Context, factoryID string, codes []string) (known, error) {
	slices.Sort(codes)
	codes = slices.Compact(codes)
	found := make([]machine.Machine, len(codes))
	reads := make([]func(context.Context) error, len(codes))
	for i, code := range codes {
		reads[i] = func(ctx context.Context) error {
			_, err := s.db.Get(ctx, dynamo.Machines, dynamo.Key{"factoryId": factoryID, "code": code}, &found[i])
			return err
		}
	}
	if err := dynamo.Together(ctx, reads...); err != nil {
		return nil, err
	}
	all := known{}
	for _, m := range found {
		if m.Revision > 0 && m.Scrapped == nil {
			all[m.Code] = m
		}
	}
	return all, nil
}

var errAllFound = errors.New("method: a machine of each class was found")

// witnesses reads the machines of a factory until it has one of each class.
func (s *Store) witnesses(ctx context.Context, factoryID string, classes []string) (known, error) {
	all := known{}
	if len(classes) == 0 {
		return all, nil
	}
	left := slices.Clone(classes)
	err := dynamo.Walk(ctx, s.db, dynamo.Selection{Table: dynamo.Machines, Partition: factoryID}, nil, 0, func(m machine.Machine) error {
		before := len(left)
		left = slices.DeleteFunc(left, func(class string) bool { return slices.Contains(m.Classes, class) })
		if len(left) < before {
			all[m.Code] = m
		}
		if len(left) == 0 {
			return errAllFound
		}
		return nil
	})
	if errors.Is(err, errAllFound) {
		err = nil
	}
	return all, err
}

// conditionsOn returns conditions that machines are still as they were read.
func conditionsOn(all known, factoryID string, codes []string) []dynamo.TransactItem {
	var parts []dynamo.TransactItem
	for _, code := range slices.Compact(slices.Sorted(slices.Values(codes))) {
		parts = append(parts, dynamo.TransactCheck("machine", dynamo.Machines,
			dynamo.Key{"factoryId": factoryID, "code": code}, dynamo.AtRevision("code", all[code].Revision)))
	}
	return parts
}
