package upgrade

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"wavegate/scripts/operator/verify"
	"wavegate/scripts/samples"
	"wavegate/shared/platform/problem"
)

// A Continuation is what GoOn did.
type Continuation struct {
	Rollouts, Methods int      // that were moved
	Verified          int      // methods that were compared with the audit trail
	Wrong             []string // that do not agree with it
}

// GoOn continues everything: it halts one of three active rollouts and raises or completes the others, starts rollouts of a
// new version on the other channels of the fleet, moves every method, moves some boxes to another channel, has all boxes poll
// and report, and ticks. Then it verifies all methods.
func (d *Deployment) GoOn(ctx context.Context) (c Continuation, err error) {
	active, err := d.items(samples.Owner, "/api/ota/rollouts?status=active&limit=100")
	if err != nil {
		return c, err
	}
	for i, r := range active {
		if err := d.move(r, i%3 == 2); err != nil {
			return c, err
		}
		c.Rollouts++
	}
	if err := d.startOthers(active); err != nil {
		return c, err
	}
	versions, err := d.versions()
	if err != nil {
		return c, err
	}
	for _, v := range versions {
		moved, err := v.move(d)
		if err != nil {
			return c, err
		}
		if moved {
			c.Methods++
		}
	}
	if err := d.relocate(); err != nil {
		return c, err
	}
	for range 2 {
		if err := d.everyBox(); err != nil {
			return c, err
		}
		if err := d.Tick(ctx); err != nil {
			return c, fmt.Errorf("upgrade: the tick: %w", err)
		}
	}
	c.Verified, c.Wrong, err = d.verify(ctx)
	return c, err
}

// startOthers starts a rollout of a new version on the channels without one that was active.
func (d *Deployment) startOthers(active []map[string]any) error {
	d.starts++
	target := fmt.Sprintf("1.%d.0", 1+d.starts)
	if err := d.publish("canary", target); err != nil {
		return err
	}
	for _, l := range lives {
		if slices.ContainsFunc(active, func(r map[string]any) bool { return r["edgeType"] == edgeType && r["channel"] == l.channel }) {
			continue
		}
		path, err := d.start(l.channel, target)
		if err != nil {
			return err
		}
		if err := d.moves(path, l.channel, []string{stage(10)}); err != nil {
			return err
		}
	}
	return nil
}

// relocate moves one of ten boxes to another channel.
func (d *Deployment) relocate() error {
	for i := range d.boxes {
		if i%10 != 9 {
			continue
		}
		b := &d.boxes[i]
		if b.channel = "ten"; i%20 == 9 {
			b.channel = "calm"
		}
		body := fmt.Sprintf(`{"edgeType":%q,"channel":%q,"organizationId":%q}`, edgeType, b.channel, organization)
		if _, err := d.must(samples.Owner, http.MethodPut, "/api/edges/"+b.id, body); err != nil {
			return err
		}
	}
	return nil
}

// move halts a rollout, or takes it one stage further.
func (d *Deployment) move(r map[string]any, halts bool) error {
	path := "/api/ota/rollouts/" + fmt.Sprint(r["id"])
	percent, _ := r["staged_percent"].(float64)
	next := map[float64]int{1: 10, 10: 50, 50: 100}[percent]
	body := stage(next)
	switch {
	case halts:
		body = halt
	case next == 0:
		body = complete
	}
	a, err := d.call(samples.Owner, http.MethodPatch, path, body)
	if err == nil && refused(a, problem.ApprovalRequired) {
		if _, err := d.must(other, http.MethodPost, path+"/approvals", fmt.Sprintf(`{"stage":%d}`, next)); err != nil {
			return err
		}
		a, err = d.call(samples.Owner, http.MethodPatch, path, body)
	}
	if err == nil && a.Status != http.StatusNoContent {
		err = fmt.Errorf("upgrade: %s of %s is answered with %d: %s", body, path, a.Status, a.Body)
	}
	return err
}

// A version is the latest one of a method.
type version struct {
	factory, method string
	number          int
	status          string
}

func (v version) path() string {
	return fmt.Sprintf("/api/factories/%s/production-methods/%s/versions/%d", v.factory, v.method, v.number)
}

// versions lists the latest versions of all methods; the number is 0 if a method has none.
func (d *Deployment) versions() (all []version, err error) {
	factories, err := d.items(samples.Owner, "/api/factories?organizationId="+organization+"&limit=100")
	if err != nil {
		return nil, err
	}
	for _, f := range factories {
		id := fmt.Sprint(f["factoryId"])
		methods, err := d.items(admin, "/api/factories/"+id+"/production-methods?limit=100")
		if err != nil {
			return nil, err
		}
		for _, m := range methods {
			latest, _ := m["latest"].(map[string]any)
			number, _ := latest["version"].(float64)
			all = append(all, version{id, fmt.Sprint(m["methodId"]), int(number), fmt.Sprint(latest["status"])})
		}
	}
	return all, nil
}

// move takes a version one step further; there is none after a withdrawal.
func (v version) move(d *Deployment) (moved bool, err error) {
	next := map[string]string{"draft": "in_review", "in_review": "draft", "trial": "withdrawn", "released": "withdrawn"}[v.status]
	if v.number == 0 || next == "" {
		return false, nil
	}
	_, err = d.must(second, http.MethodPatch, v.path(), fmt.Sprintf(`{"status":%q,"reason":"the life goes on"}`, next))
	return err == nil, err
}

// verify compares every method with the audit trail, and returns the number of methods and what is wrong.
func (d *Deployment) verify(ctx context.Context) (methods int, wrong []string, err error) {
	versions, err := d.versions()
	if err != nil {
		return 0, nil, err
	}
	for _, v := range versions {
		if v.number == 0 {
			continue
		}
		methods++
		get := func(_ context.Context, path string) ([]byte, error) {
			a, err := d.must(admin, http.MethodGet, path, "")
			return a.Body, err
		}
		c, err := verify.Method(ctx, get, v.factory, v.method, nil)
		if err != nil {
			return methods, wrong, err
		}
		for _, f := range c.Findings {
			wrong = append(wrong, fmt.Sprintf("the method %s: %s", v.method, f))
		}
	}
	return methods, wrong, nil
}
