package verify

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"wavegate/shared/platform/timestamp"
	"wavegate/shared/production/chain"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/trail/audit"
)

// version is what a recall of a version rests on.
type version = method.Version

// atOnce is how many reads run at the same time.
const atOnce = 8

// each reads a list of things, several at a time, and returns them in order.
func each[T any](ctx context.Context, n int, read func(context.Context, int) (T, error)) ([]T, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all, next, faults := make([]T, n), make(chan int), make(chan error, atOnce)
	for range atOnce {
		go func() {
			var fault error
			for i := range next {
				if fault != nil {
					continue
				}
				if all[i], fault = read(ctx, i); fault != nil {
					cancel()
				}
			}
			faults <- fault
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	var first error
	for range atOnce {
		first = cmp.Or(<-faults, first)
	}
	return all, first
}

// as converts what the service shows.
func as[T any](shown any) (v T, err error) {
	text, err := json.Marshal(shown)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	return v, err
}

// approved checks the signatures of a version, and keeps the version.
func (c *comparison) approved(name string, state map[string]any) error {
	v, err := as[version](state)
	if err != nil {
		return err
	}
	c.versionsInTrail = append(c.versionsInTrail, v)
	for _, wrong := range v.Unsigned(factory.ApprovalPolicy(c.rule)) {
		c.add("%s: %s", name, wrong)
	}
	return nil
}

// A report is what the trail says about a machine and the method.
type report struct {
	method.OnMachine
	sha256 string             // of the record
	past   []method.OnMachine // after each report
	on     machine.Machine
}

// recalls compares what a recall of the method rests on: the machines that its versions name, what was said about
// these, and whether they hear of the method.
func (c *comparison) recalls(ctx context.Context) error {
	var named, others []map[string]any
	var total, numbered int64
	err := c.pages(ctx, c.factory+"/machines?limit=100", func(shown map[string]any) {
		m, err := as[machine.Machine](shown)
		if total, numbered = total+1, max(numbered, m.Ordinal); err == nil && c.names(m) {
			named = append(named, shown)
		} else {
			others = append(others, shown)
		}
	})
	if err != nil {
		return err
	}
	c.ordered(numbered, total)
	c.said = map[string]report{}
	if err := c.machines(ctx, named); err != nil {
		return err
	}
	if err := c.load(ctx, len(others)); err != nil {
		return err
	}
	if err := c.registrations(ctx, others); err != nil {
		return err
	}
	return c.lists(ctx)
}

// ordered compares the numbers of the factory's machines with those of the decisions on the method: how many machines
// there were, and how often they had changed, only grows. numbered is the highest number of a machine.
func (c *comparison) ordered(numbered, total int64) {
	var all []method.Decided
	for _, v := range c.versionsInTrail {
		all, numbered = append(all, v.Decisions...), max(numbered, v.Park)
	}
	if total < numbered {
		c.add("the factory has had %d machines, and only %d are shown", numbered, total)
	}
	slices.SortStableFunc(all, func(a, b method.Decided) int { return a.At.Compare(b.At) })
	for i, d := range all {
		if i > 0 && d.Number < all[i-1].Number {
			c.add("the factory's count of changes of machines went back from %d to %d before %s", all[i-1].Number, d.Number, timestamp.Text(d.At))
		}
	}
}

// registrations compares machines, as they are shown, with the trail. A row that no version seems to name may have lost the class by
// which one did.
func (c *comparison) registrations(ctx context.Context, shown []map[string]any) error {
	found, err := each(ctx, len(shown), func(ctx context.Context, i int) ([]audit.Event, error) {
		return c.events(ctx, machine.ResourceType, fmt.Sprint(shown[i]["code"]))
	})
	for i := 0; i < len(shown) && err == nil; i++ {
		subject := chain.Subject{Name: fmt.Sprint("machine ", shown[i]["code"]), Shown: shown[i], Events: found[i], Grown: audit.Grown(machine.ResourceType)}
		_, err = c.compare(subject)
	}
	return err
}

// machines compares machines, as they are shown, and what was said about them.
func (c *comparison) machines(ctx context.Context, shown []map[string]any) error {
	if err := c.load(ctx, 2*len(shown)); err != nil {
		return err
	}
	if err := c.registrations(ctx, shown); err != nil {
		return err
	}
	said, err := each(ctx, len(shown), func(ctx context.Context, i int) ([]audit.Event, error) {
		return c.events(ctx, method.OnMachineResourceType, fmt.Sprint(shown[i]["code"], "/", c.method))
	})
	if err != nil {
		return err
	}
	leads, err := each(ctx, len(shown), func(ctx context.Context, i int) (bool, error) { return c.leads(ctx, fmt.Sprint(shown[i]["code"])) })
	if err != nil {
		return err
	}
	for i, m := range shown {
		code := fmt.Sprint(m["code"])
		if !leads[i] {
			c.add("machine %s does not hear of the method: an entry that leads to it is missing", code)
		}
		one, err := c.reports(code, said[i])
		if err == nil {
			one.on, err = as[machine.Machine](m)
		}
		if err != nil {
			return err
		}
		c.said[code] = one
	}
	return nil
}

// names reports whether a version names a machine, or named it at some moment.
func (c *comparison) names(m machine.Machine) bool {
	return slices.ContainsFunc(c.versionsInTrail, func(v version) bool { return names(v, m) })
}

func names(v version, m machine.Machine) bool {
	classes := m.EverClasses()
	return slices.Contains(v.Equipment.Machines, m.Code) ||
		slices.ContainsFunc(v.Equipment.Classes, func(class string) bool { return slices.Contains(classes, class) })
}

// leads reports whether a machine's poll for all methods finds the method if a poll for the method does.
func (c *comparison) leads(ctx context.Context, code string) (bool, error) {
	path := c.factory + "/machines/" + url.PathEscape(code) + "/methods?limit=100"
	concerned, listed := false, false
	err := c.pages(ctx, path+"&methodId="+c.method, func(map[string]any) { concerned = true })
	if err == nil && concerned {
		err = c.pages(ctx, path, func(m map[string]any) { listed = listed || m["methodId"] == c.method })
	}
	return err != nil || listed || !concerned, err
}

// reports checks the chain of what was said about a machine, and returns what holds after the last report.
func (c *comparison) reports(code string, events []audit.Event) (last report, err error) {
	slices.SortFunc(events, func(a, b audit.Event) int { return cmp.Compare(a.Resource.Revision, b.Resource.Revision) })
	var state map[string]any
	for i, e := range events {
		var changed []string
		if state, changed, err = chain.Follow(state, e, audit.Grown(method.OnMachineResourceType)); err == nil {
			last.OnMachine, err = as[method.OnMachine](state)
		}
		if err != nil {
			return last, err
		}
		last.past = append(last.past, last.OnMachine)
		if len(changed) > 0 && i > 0 {
			c.add("machine %s: between reports %d and %d, %s changed without an event", code, i, i+1, strings.Join(changed, ", "))
		}
	}
	wrong, err := chain.CheckReports(events)
	for _, what := range wrong {
		c.add("machine %s: %s", code, what)
	}
	if err != nil || len(events) == 0 {
		return last, err
	}
	last.sha256, err = chain.Digest(state)
	return last, err
}

// lists compares the lists of machines of the versions about which something was said, or which were withdrawn, with the
// last events.
func (c *comparison) lists(ctx context.Context) error {
	about := slices.DeleteFunc(slices.Clone(c.versionsInTrail), func(v version) bool {
		for _, m := range c.said {
			if m.SaysAbout(v.Version) {
				return false
			}
		}
		return v.Status != method.Withdrawn || len(v.Decisions) == 0
	})
	type read struct {
		list  []method.Reached
		fault error
	}
	lists, err := each(ctx, len(about), func(ctx context.Context, i int) (r read, err error) {
		r.list, r.fault = c.list(ctx, about[i])
		return r, ctx.Err()
	})
	if err != nil {
		return err
	}
	for i, v := range about {
		list := lists[i].list
		if lists[i].fault != nil {
			c.add("version %d: the service cannot list its machines: %v", v.Version, lists[i].fault)
			continue
		}
		if err := c.unnamed(ctx, list); err != nil {
			return err
		}
		c.listed(v, list)
		left := slices.DeleteFunc(slices.Clone(list), func(x method.Reached) bool { return x.Clear })
		if err := c.watched(ctx, v, left); err != nil {
			return err
		}
	}
	return nil
}

// list reads the list of machines of a version.
func (c *comparison) list(ctx context.Context, v version) (list []method.Reached, err error) {
	path := c.path() + "/versions/" + strconv.FormatInt(v.Version, 10) + "/machines?limit=100"
	return list, walk(ctx, c.get, path, func(x method.Reached) { list = append(list, x) })
}

// unnamed compares machines of a list that no version seemed to name.
func (c *comparison) unnamed(ctx context.Context, list []method.Reached) error {
	var more []map[string]any
	for _, x := range list {
		if _, known := c.said[x.Machine]; known {
			continue
		}
		shown, err := c.object(ctx, c.factory+"/machines/"+url.PathEscape(x.Machine))
		if err != nil {
			return err
		}
		more = append(more, shown)
	}
	return c.machines(ctx, more)
}

// listed compares the list of a version with the trail.
func (c *comparison) listed(v version, list []method.Reached) {
	on := map[string]bool{}
	for _, x := range list {
		on[x.Machine] = true
		said := c.said[x.Machine]
		want := said.Shown(v.Version)
		want.RecordSHA256 = said.sha256
		if !want.SameWord(x) {
			c.add("version %d on machine %s: what was said differs from the trail", v.Version, x.Machine)
		}
	}
	for code, m := range c.said {
		if m.SaysAbout(v.Version) && !on[code] {
			c.add("version %d: machine %s is not listed, and the trail has its report", v.Version, code)
		}
	}
}
