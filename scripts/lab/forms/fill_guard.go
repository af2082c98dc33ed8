package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

// inStage returns two ids of boxes that a rollout of version 1.1.0 reaches at a stage.
func inStage(edgeType string, percent int) []string { return someInStage(edgeType, percent, 2) }

func someInStage(edgeType string, percent, n int) (ids []string) {
	for i := 0; len(ids) < n; i++ {
		if id := fmt.Sprintf("%s-%d", edgeType, i); cohort.FirstStage(edgeType, "1.1.0", id) == percent {
			ids = append(ids, id)
		}
	}
	return ids
}

// judged makes the guard halt, promote, complete and warn. Each case has its own edge type.
func (w *world) judged() {
	const seconds = `"guard":{"acceptable":0.001,"intolerable":0.5,"silentAfter":"PT1S","decideWithin":"PT1S","smallFleet":"allDecided"},` +
		`"promote":{"auto":true,"soak":{"1":"PT0S","10":"PT0S","50":"PT0S","100":"PT0S"}}`
	boxes := map[string][]string{}
	others := someInStage("alone", 100, 24)[2:] // enough to contradict the boxes of one organization
	for _, c := range []struct{ name, policy string }{
		{"bad", `{` + seconds + `}`}, {"good", `{` + seconds + `}`}, {"late", `{` + seconds + `}`}, {"alone", `{` + seconds + `}`},
		{"advised", `{"mode":"advise",` + seconds + `}`}, {"waits", `{"mode":"advise",` + seconds + `,"approvals":{"before":[10]}}`},
		{"raised", `{` + seconds + `}`}, {"early", `{` + seconds + `}`}, {"near", `{"mode":"advise",` + seconds + `}`},
	} {
		w.do(created, "olga", channel+c.name+"/stable", released("1.0.0", ""))
		w.do(created, "olga", channel+c.name+"/canary", released("1.1.0", ""))
		boxes[c.name] = inStage(c.name, 1)
		for i, id := range append(inStage(c.name, 100), boxes[c.name]...) {
			organization := []string{"acme", "rival"}[i%2]
			if c.name == "alone" {
				organization = []string{"acme", "rival"}[i/2]
			}
			w.do(created, "olga", "PUT /api/edges/"+id, fmt.Sprintf(`{"edgeType":%q,"channel":"stable","organizationId":%q}`, c.name, organization))
			w.poll(id, "1.0.0")
		}
		if c.name == "alone" {
			for _, id := range others {
				w.do(created, "olga", "PUT /api/edges/"+id, onChannel(c.name, "stable", ""))
			}
			w.do(created, "olga", "PUT /api/edges/third-1", fmt.Sprintf(`{"edgeType":%q,"channel":"stable","organizationId":"third"}`, c.name))
		}
		w.start(c.name, c.name, "stable", "1.1.0", `,"policy":`+c.policy)
		if !slices.Contains([]string{"waits", "raised", "early", "near"}, c.name) {
			w.move("olga", c.name, toAll...)
		}
		for _, id := range boxes[c.name] {
			w.poll(id, "1.0.0")
		}
	}
	w.move("olga", "late", `{"status":"completed"}`)
	w.move("olga", "alone", `{"status":"active","without":["third"]}`)
	for _, id := range others {
		w.poll(id, "1.0.0")
		w.poll(id, "1.1.0")
	}
	w.do(created, "olga", channel+"left/stable", released("1.0.0", ""))
	w.do(created, "olga", channel+"left/canary", released("1.1.0", ""))
	w.start("left", "left", "stable", "1.1.0", "")
	w.do(created, "olga", channel+"back/stable", released("1.0.0", ""))
	w.do(created, "olga", channel+"back/canary", released("1.1.0", ""))
	w.start("back", "back", "stable", "1.1.0", `,"policy":{"onHalt":"return"}`)
	w.move("olga", "back", toAll...)
	w.do(created, "olga", "PUT /api/edges/back-1", onChannel("back", "stable", ""))
	w.poll("back-1", "1.0.0")
	w.poll("back-1", "1.1.0")
	w.move("olga", "back", `{"status":"halted"}`, `{"status":"halted","return":true}`)
	w.poll("back-1", "1.1.0")
	w.move("olga", "left", append([]string{`{"status":"active","without":["third"]}`}, append(slices.Clone(toAll), `{"status":"completed"}`)...)...)
	all := func(does func(id string), names ...string) {
		for _, name := range names {
			for _, id := range boxes[name] {
				does(id)
			}
		}
	}
	fails := func(id string) { w.report(id, 1, "failed", `,"code":"boot"`) }
	installs := func(id string) { w.poll(id, "1.1.0") }
	all(fails, "bad", "advised", "late", "alone", "early", "near")
	all(installs, "good", "waits", "raised")
	for _, id := range inStage("good", 100) {
		w.poll(id, "1.1.0")
	}
	for _, id := range inStage("alone", 100) {
		w.poll(id, "1.1.0")
	}
	w.pass()
	all(installs, "good", "waits", "raised")
	for _, id := range inStage("good", 100) {
		w.poll(id, "1.1.0")
	}
	w.tick()
	w.pass()
	w.aMinutePasses("near")
	w.tick() // people are warned of what the last tick saw
	w.move("olga", "near", toAll...)
	for range 2 {
		w.pass()
		w.tick()
	}
}

// aMinutePasses makes the history of a rollout a minute older.
func (w *world) aMinutePasses(name string) {
	if w.err != nil {
		return
	}
	w.err = golden.Scan(context.Background(), w.DB, func(id dynamo.TableID, p golden.Plain) error {
		part, _ := p["part"].(string)
		if id == dynamo.Progress && p["subject"] == w.values[name] && strings.HasPrefix(part, "hour#") {
			w.edit(place{id, w.values[name], part}, "moments", func(v any) (any, error) {
				for _, moment := range v.([]any) {
					var err error
					m := moment.(golden.Plain)
					if m["at"], err = earlier(time.Minute)(m["at"]); err != nil {
						return nil, err
					}
				}
				return v, nil
			})
		}
		return w.err
	})
}
