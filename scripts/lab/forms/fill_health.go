package main

import "fmt"

// worked makes the guard halt a release with which boxes are slower. Nobody says a second number.
func (w *world) worked() {
	const name = "slower"
	w.do(created, "olga", channel+name+"/stable", released("1.0.0", ""))
	w.do(created, "olga", channel+name+"/canary", released("1.1.0", ""))
	reached, others := someInStage(name, 1, 14), someInStage(name, 50, 14)
	for _, id := range append(reached, others...) {
		w.do(created, "olga", "PUT /api/edges/"+id, onChannel(name, "stable", ""))
	}
	w.start(name, name, "stable", "1.1.0", `,"policy":{"health":{"cycleSeconds":{"is":"gauge"},"crashes":{"is":"counter"}},`+
		`"guard":{"silentAfter":"PT1S","decideWithin":"PT1S","smallFleet":"allDecided"},"promote":{"soak":{"1":"PT0S","10":"PT0S","50":"PT0S","100":"PT0S"}}}`)
	says := func(ids []string, version string, seconds float64) {
		for i, id := range ids {
			w.poll(id, fmt.Sprintf("%s&health=cycleSeconds:%g", version, seconds+float64(i)/100))
		}
	}
	says(reached, "1.0.0", 10)
	says(others, "1.0.0", 10)
	says(reached, "1.1.0", 12)
	w.pass()
	says(others, "1.0.0", 10)
	says(reached, "1.1.0", 12)
	w.tick()
}
