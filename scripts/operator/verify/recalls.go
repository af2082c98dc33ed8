package verify

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

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

// approved compares the approvals of a version with the rule that it recorded, and keeps the version.
func (c *comparison) approved(name string, shown map[string]any) error {
	v, err := as[version](shown)
	if err != nil {
		return err
	}
	c.shown = append(c.shown, v)
	for _, d := range v.Decisions {
		i := slices.IndexFunc(v.Signatures, func(g method.Signature) bool { return g.At.Equal(d.At) })
		if i < 0 {
			c.add("%s: nobody signed its decision %s of %s", name, d.Status, timestamp.Text(d.At))
			continue
		}
		g := v.Signatures[i]
		own := slices.Contains(v.Authors, audit.Person{Issuer: g.Issuer, UserID: g.UserID})
		if d.Status == method.Withdrawn || !own {
			continue
		}
		if d.Rule != factory.Single || c.rule != string(factory.Single) {
			c.add("%s: its author %s approved it; it records the rule %q, and the factory has %q", name, g.UserID, d.Rule, c.rule)
		}
	}
	return nil
}

// recalls compares what a recall of the method rests on: the machines that its versions name, what was said about
// these, and whether they hear of the method.
func (c *comparison) recalls(ctx context.Context) error {
	var named []map[string]any
	err := c.pages(ctx, c.factory+"/machines?limit=100", func(shown map[string]any) {
		if m, err := as[machine.Machine](shown); err == nil && c.names(m) {
			named = append(named, shown)
		}
	})
	if err != nil {
		return err
	}
	found, err := each(ctx, len(named), func(ctx context.Context, i int) ([]audit.Event, error) {
		return c.events(ctx, machine.ResourceType, fmt.Sprint(named[i]["code"]))
	})
	if err != nil {
		return err
	}
	said, err := each(ctx, len(named), func(ctx context.Context, i int) ([]audit.Event, error) {
		return c.events(ctx, method.OnMachineResourceType, fmt.Sprint(named[i]["code"], "/", c.method))
	})
	if err != nil {
		return err
	}
	leads, err := each(ctx, len(named), func(ctx context.Context, i int) (bool, error) { return c.leads(ctx, fmt.Sprint(named[i]["code"])) })
	if err != nil {
		return err
	}
	last := map[string]method.OnMachine{}
	for i, m := range named {
		code := fmt.Sprint(m["code"])
		c.compare(chain.Subject{Name: "machine " + code, Shown: m, Events: found[i]})
		if !leads[i] {
			c.add("machine %s does not hear of the method: an entry that leads to it is missing", code)
		}
		if last[code], err = c.reports(code, said[i]); err != nil {
			return err
		}
	}
	return c.lists(ctx, last)
}

// names reports whether a version names a machine, or named it at some moment.
func (c *comparison) names(m machine.Machine) bool {
	classes := m.EverClasses()
	return slices.ContainsFunc(c.shown, func(v version) bool {
		return slices.Contains(v.Equipment.Machines, m.Code) ||
			slices.ContainsFunc(v.Equipment.Classes, func(class string) bool { return slices.Contains(classes, class) })
	})
}

// leads reports whether a machine's poll for all methods finds the method if a poll for the method does.
func (c *comparison) leads(ctx context.Context, code string) (bool, error) {
	path := c.factory + "/machines/" + url.PathEscape(code) + "/methods?limit=100"
	concerned, listed := false, false
	err := c.pages(ctx, path+"&methodId="+c.method, func(map[string]any) { concerned = true })
	if err == nil && concerned {
		err = c.pages(ctx, path, func(m map[string]any) { listed = listed || m["methodId"] == c.method })
	}
	return !concerned || listed, err
}

// reports checks the chain of what was said about a machine, and returns the last state.
func (c *comparison) reports(code string, events []audit.Event) (last method.OnMachine, err error) {
	slices.SortFunc(events, func(a, b audit.Event) int { return cmp.Compare(a.Resource.Revision, b.Resource.Revision) })
	for i, e := range events {
		was := last
		if last, err = as[method.OnMachine](e.After); err != nil {
			return last, err
		}
		if e.Resource.Revision != int64(i+1) {
			c.add("machine %s: the trail has no event for report %d", code, i+1)
			return last, nil
		}
		if last.TrailSHA256 == "" && was.TrailSHA256 == "" {
			continue // an earlier release stored it
		}
		hash, err := chain.NextReport(was.TrailSHA256, chain.EntryOf(e))
		if err != nil {
			return last, err
		}
		if hash != last.TrailSHA256 {
			c.add("machine %s: the event of report %d or an earlier one was changed", code, i+1)
		}
	}
	return last, nil
}

// lists compares the lists of machines of the versions about which something was said, or which were withdrawn, with the
// last events.
func (c *comparison) lists(ctx context.Context, last map[string]method.OnMachine) error {
	about := slices.DeleteFunc(slices.Clone(c.shown), func(v version) bool {
		for _, m := range last {
			if m.SaysAbout(v.Version) {
				return false
			}
		}
		return v.Status != method.Withdrawn || len(v.Decisions) == 0
	})
	lists, err := each(ctx, len(about), func(ctx context.Context, i int) (list []method.Reached, err error) {
		path := c.path() + "/versions/" + strconv.FormatInt(about[i].Version, 10) + "/machines?limit=100"
		return list, walk(ctx, c.get, path, func(x method.Reached) { list = append(list, x) })
	})
	if err != nil {
		return err
	}
	for i, v := range about {
		left := 0
		listed := map[string]bool{}
		for _, x := range lists[i] {
			listed[x.Machine] = true
			if !x.Clear {
				left++
			}
			if want := last[x.Machine].Shown(v.Version); !want.SameWord(x) {
				c.add("version %d on machine %s: what was said differs from the trail", v.Version, x.Machine)
			}
		}
		for code, m := range last {
			if m.SaysAbout(v.Version) && !listed[code] {
				c.add("version %d: machine %s is not listed, and the trail has its report", v.Version, code)
			}
		}
		if err := c.watched(ctx, v, left); err != nil {
			return err
		}
	}
	return nil
}

// watched looks for the warning of a recall that was not confirmed in time.
func (c *comparison) watched(ctx context.Context, v version, left int) error {
	late := time.Since(v.UpdatedAt) > 2*method.ConfirmWithin
	if v.Orders != method.Stop || left == 0 || !late || len(v.Decisions) == 0 {
		return nil
	}
	id := fmt.Sprintf("%s/%s/%d", v.FactoryID, c.method, v.Version)
	events, err := c.events(ctx, method.RecallResourceType, id)
	if err == nil && len(events) == 0 {
		c.add("version %d: nobody was warned that its recall is not confirmed", v.Version)
	}
	return err
}
