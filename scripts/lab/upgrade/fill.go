package upgrade

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"wavegate/scripts/samples"
	"wavegate/shared/operations/table"
	"wavegate/shared/ratelimit"
)

// Fill makes what the samples of all operations make and need, in each of their cases, and a fleet of 200 boxes.
func (d *Deployment) Fill() error {
	if err := d.fleet(); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, s := range samples.All {
		if table.Get(s.Operation).Limit == ratelimit.Copilot || !d.Has(s.Operation) {
			continue // no deployment here has an assistant to ask
		}
		for _, c := range s.Cases {
			if err := d.sample(s, c, known); err != nil {
				return fmt.Errorf("upgrade: the sample of %s, %s: %w", s.Operation, c.Name, err)
			}
		}
	}
	for path, by := range map[string]samples.Caller{
		"/api/factories?organizationId=" + organization + "&limit=100":       samples.Owner,
		"/api/ota/release-channels?limit=100":                                samples.Owner,
		"/api/ota/rollouts?limit=100":                                        samples.Owner,
		"/api/ota/overview?limit=100":                                        samples.Owner,
		"/api/edges?organizationId=" + organization + "&limit=100":           samples.Owner,
		"/api/edge-enrolments?organizationId=" + organization + "&limit=100": admin,
		"/api/audit-events?limit=100":                                        samples.Owner,
		"/api/organizations/" + organization + "/export?limit=100":           admin,
	} {
		d.shows(samples.Call{By: by, Method: http.MethodGet, Path: path})
	}
	return nil
}

// polling are the GETs that write what they saw, and counting those that keep a count.
var (
	polling = []string{"get-manifest", "get-ddi-base", "get-ddi-deployment", "get-ddi-cancel-action", "get-machine-methods", "get-method-content"}
	counted = []string{"get-rollout-progress", "get-channel-progress", "get-organization-fleet", "get-organization-rollout"}
)

// fresh asks for a new count.
const fresh = "?fresh=true"

// shows remembers a call that shows what was made.
func (d *Deployment) shows(c samples.Call) {
	switch {
	case slices.Contains(polling, c.Operation):
		d.polls = append(d.polls, c)
		return
	case slices.Contains(counted, c.Operation):
		c.Path, _, _ = strings.Cut(c.Path, "?")
		again := c
		again.Path += fresh
		d.counts = append(d.counts, again)
	}
	d.reads = append(d.reads, c)
}

// sample makes the call of a sample, and remembers which reads show what it made.
func (d *Deployment) sample(s samples.Sample, c samples.Case, known map[string]bool) error {
	values := samples.Fresh(func(stem string) string { d.names++; return fmt.Sprintf("%s-u%d", stem, d.names) })
	made := map[string]bool{}
	session := samples.Session{Values: values, Do: func(call samples.Call) (http.Header, []byte, error) {
		a, err := d.make(call)
		if err == nil && a.Status/100 != 2 {
			err = fmt.Errorf("answered %d: %s", a.Status, a.Body)
		}
		made[call.Operation] = true
		return a.Header, a.Body, err
	}}
	call, err := session.Prepare(s.Operation, c)
	if err != nil {
		return err
	}
	a, err := d.make(call)
	if err != nil {
		return err
	}
	if a.Status/100 != 2 && a.Status != call.Status {
		return fmt.Errorf("%s is answered with %d: %s", call.Path, a.Status, a.Body)
	}
	made[s.Operation] = true
	if call.Header[0] == "Idempotency-Key" {
		d.polls = append(d.polls, call)
	}
	for _, of := range samples.All {
		if table.Get(of.Operation).Method != http.MethodGet || !d.Has(of.Operation) ||
			slices.ContainsFunc(of.After, func(step samples.Step) bool { return !made[step.Operation] }) {
			continue
		}
		read := of.Call(values, samples.Case{})
		if once := fmt.Sprint(read.By, read.Path); !known[once] {
			known[once] = true
			d.shows(read)
		}
	}
	return nil
}
