package main

import (
	"fmt"
	"net/http"
	"time"

	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
)

// A row is a call that is made with few and with many things in the store.
type row struct {
	name string
	// call makes the request of the i-th time.
	call  func(p *plant, i int) (samples.Call, error)
	check string // a part of every right answer's body
	why   string
}

func get(c samples.Caller, path string) samples.Call {
	return samples.Call{By: c, Method: http.MethodGet, Path: path}
}

func put(c samples.Caller, path, body string) samples.Call {
	return samples.Call{By: c, Method: http.MethodPut, Path: path, Body: body}
}

// always makes the same request.
func always(r samples.Call) func(*plant, int) (samples.Call, error) {
	return func(*plant, int) (samples.Call, error) { return r, nil }
}

// far is an offset near the end of a list, and at most 10,000: offsets end there.
func far(things int) int { return min(things-60, 10_000) }

// Callers beside the platform owner.
var (
	engineer = samples.Caller{User: "eric", Organization: "acme", Role: auth.ProductionEngineer}
	admin    = samples.Caller{User: "anna", Organization: "acme", Role: auth.OrganizationAdmin}
)

const flatKey = "flat: reads and writes by key"

var rows = []row{
	{"a box's first poll", func(p *plant, i int) (samples.Call, error) {
		return p.poll(i), nil
	}, `"version":`, "flat: reads and writes by key; the channel's item is read every 2 s"},
	{"a box's poll to which nothing is new", func(p *plant, i int) (samples.Call, error) {
		r := p.poll(i)
		told, err := p.Must(r)
		r.Header = [2]string{"If-None-Match", told.Header.Get("ETag")}
		return r, err
	}, "", "flat: reads the box's item and, every 2 s, the channel's"},
	{"publish to the channel that all follow", func(*plant, int) (samples.Call, error) {
		return put(samples.Owner, channel+"stable", publication(fmt.Sprintf("2.%d", time.Now().UnixMicro()))), nil
	}, "", "flat: one row changes, and boxes fetch it with their polls"},
	{"start a rollout to all boxes", func(p *plant, _ int) (samples.Call, error) { return p.start() }, "",
		"flat: a cohort is computed from each box's id, so nothing is written for a box"},
	{"promote it", func(p *plant, _ int) (samples.Call, error) {
		r, err := p.start()
		if err != nil {
			return r, err
		}
		a, err := p.Must(r)
		return samples.Call{By: samples.Owner, Method: http.MethodPatch, Path: a.Header.Get("Location"), Body: `{"staged_percent":10}`}, err
	}, "", "flat: for the same reason"},
	{"register a box", func(p *plant, _ int) (samples.Call, error) {
		return put(samples.Owner, "/api/edges/"+p.Name("new"), `{"edgeType":"gateway-x","channel":"beta","organizationId":"acme"}`), nil
	}, "", flatKey},
	{"create a production method", always(samples.Call{By: engineer, Method: http.MethodPost, Path: factory + "/production-methods",
		Body: `{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"Milling"}`}), "", flatKey},
	{"first 50 boxes of the channel", always(get(samples.Owner, "/api/edges?edgeType=gateway-x&channel=stable")), `"next":`,
		"flat: one query, as long as the page"},
	{"50 boxes after the largest offset", func(p *plant, _ int) (samples.Call, error) {
		return get(samples.Owner, fmt.Sprintf("/api/edges?edgeType=gateway-x&channel=stable&offset=%d", far(p.now.boxes))), nil
	}, `"edgeId":`, "grows with the offset, to 10,000: what is skipped is counted, and counting reads"},
	{"first 50 machines", always(get(engineer, factory+"/machines")), `"next":`, "flat: one query, as long as the page"},
	{"50 machines after an offset", func(p *plant, _ int) (samples.Call, error) {
		return get(engineer, fmt.Sprintf("%s/machines?offset=%d", factory, far(p.now.machines))), nil
	}, `"code":`, "grows with the offset, for the same reason"},
	{"newest 50 events of the factory", always(get(admin, factory+"/audit-events")), `"next":`, "flat: one query, newest first"},
	{"50 events from the middle of its past", func(p *plant, _ int) (samples.Call, error) {
		middle := time.Now().UTC().Add(-time.Duration(p.now.boxes/2) * time.Second)
		return get(admin, factory+"/audit-events?to="+middle.Format("2006-01-02T15:04:05Z")), nil
	}, `"next":`, "flat: time is the order of the key"},
	{"events of one machine among them", always(get(admin, factory+"/audit-events?resourceType=machine&resourceId=press-000007")), `press-000007`,
		"flat but for the events found: an index has them by resource"},
}

// poll is the poll of a box, by the number of the call: the boxes lie evenly in the fleet.
func (p *plant) poll(i int) samples.Call {
	box := fmt.Sprintf("edge-%06d", i*(p.now.boxes/1000))
	return get(samples.Caller{User: box, Role: auth.Edge}, "/api/edges/"+box+"/update/manifest?installed=1.0.0")
}

// start makes a channel for each rollout, since a channel has only one at a time. Polls read another one.
func (p *plant) start() (samples.Call, error) {
	name := p.Name("stage")
	_, err := p.Must(put(samples.Owner, channel+name, publication("1.0.0")))
	return samples.Call{By: samples.Owner, Method: http.MethodPost, Path: "/api/ota/rollouts",
		Body: fmt.Sprintf(`{"edgeType":"gateway-x","channel":%q,"targetVersion":"1.1.0"}`, name)}, err
}
