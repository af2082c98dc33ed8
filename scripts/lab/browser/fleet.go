package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"time"

	"golang.org/x/sync/errgroup"

	"wavegate/scripts/local/service"
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/operations"
)

// A world is a service with fleets whose boxes are played call by call, so that pictures of it are the same
// each time.
type world struct {
	*service.Service
	ctx  context.Context
	slow bool
}

// An answer is the service's.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// as calls the service as a person. Whatever is refused is an error.
func (w *world) as(user string, method, path string, body any) (answer, error) {
	bearer, err := w.Bearer(user, "wavegate", auth.PlatformOwner)
	if err != nil {
		return answer{}, err
	}
	a, err := w.send(bearer, method, path, body)
	if err == nil && a.status >= 400 {
		err = fmt.Errorf("%s %s: %d %s", method, path, a.status, a.body)
	}
	return a, err
}

func (w *world) send(bearer, method, path string, body any) (a answer, err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return a, err
		}
	}
	r, err := http.NewRequestWithContext(w.ctx, method, w.URL+path, bytes.NewReader(text))
	if err != nil {
		return a, err
	}
	r.Header.Set("Authorization", bearer)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	a.status, a.header = res.StatusCode, res.Header
	a.body, err = io.ReadAll(res.Body)
	return a, err
}

// poll has a box say what it runs, and returns what it is told to run. An answer without a tag says that the
// poll could not be recorded in time, so the box polls again.
func (w *world) poll(box, installed string) (version string, err error) {
	bearer, err := w.Bearer(box, "", auth.Edge)
	if err != nil {
		return "", err
	}
	var a answer
	for range 20 {
		a, err = w.send(bearer, http.MethodGet, "/api/edges/"+box+"/update/manifest?installed="+installed, nil)
		if err != nil || a.status != http.StatusOK || a.header.Get("ETag") != "" {
			break
		}
	}
	if err != nil {
		return "", err
	}
	var told struct{ Version string }
	if a.status != http.StatusOK {
		return "", fmt.Errorf("a poll of %s: %d %s", box, a.status, a.body)
	}
	return told.Version, json.Unmarshal(a.body, &told)
}

// report has a box say how it gets on.
func (w *world) report(box string, what map[string]any) error {
	bearer, err := w.Bearer(box, "", auth.Edge)
	if err != nil {
		return err
	}
	what["attempt"] = 1
	a, err := w.send(bearer, http.MethodPut, "/api/edges/"+box+"/update/report", what)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("a report of %s: %d %s", box, a.status, a.body)
	}
	return err
}

// tick has the active rollouts counted and judged: a second after the last time or, where the world is slow, in
// the next minute, as the history keeps one count a minute.
func (w *world) tick() error {
	wait := 1100 * time.Millisecond
	if w.slow {
		wait = time.Until(time.Now().Truncate(time.Minute).Add(61 * time.Second))
	}
	time.Sleep(wait)
	return w.RunTask(w.ctx, operations.Tick)
}

// each does something with boxes, some at a time.
func each(boxes []string, do func(i int, box string) error) error {
	var g errgroup.Group
	g.SetLimit(8)
	for i, box := range boxes {
		g.Go(func() error { return do(i, box) })
	}
	return g.Wait()
}

// A channel is where a fleet is.
type channel struct{ edgeType, name, version string }

func (c channel) path() string { return "/api/ota/release-channels/" + c.edgeType + "/" + c.name }

// publish publishes a version. Its digest is made of its name.
func (w *world) publish(user string, c channel) error {
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(c.edgeType+c.version)))
	_, err := w.as(user, http.MethodPut, c.path(), map[string]any{"currentVersion": c.version,
		"artifactUrl": "https://artifacts.example.com/" + c.edgeType + "/" + c.version + ".tar.gz", "sha256": digest})
	return err
}

// plants are where the boxes are, in turn.
var plants = []string{"munich-1", "lyon-2", "graz-1", "brno-3", "porto-1", "gdansk-2"}

// register puts boxes on a channel, and has each say that it runs the channel's version.
func (w *world) register(c channel, prefix string, n int) (boxes []string, err error) {
	for i := range n {
		boxes = append(boxes, fmt.Sprintf("%s%04d", prefix, i+1))
	}
	const batch = 30
	for from := 0; from < n; from += batch {
		var members []map[string]any
		for i, box := range boxes[from:min(from+batch, n)] {
			members = append(members, map[string]any{"edgeId": box, "edgeType": c.edgeType, "channel": c.name, "organizationId": "acme", "factoryId": plants[(from+i)%len(plants)]})
		}
		// People of their own: one may make 600 calls a minute.
		if _, err := w.as(fmt.Sprintf("registrar-%d", from/3000), http.MethodPost, "/api/edges", map[string]any{"edges": members}); err != nil {
			return nil, err
		}
	}
	return boxes, each(boxes, func(_ int, box string) error { _, err := w.poll(box, c.version); return err })
}

// start starts a rollout of a version that is published on the canary channel.
func (w *world) start(user string, c channel, target string, policy any) (rollout string, err error) {
	if err := w.publish(user, channel{c.edgeType, "canary", target}); err != nil {
		return "", err
	}
	body := map[string]any{"edgeType": c.edgeType, "channel": c.name, "targetVersion": target}
	if policy != nil {
		body["policy"] = policy
	}
	a, err := w.as(user, http.MethodPost, "/api/ota/rollouts", body)
	return "/api/ota/rollouts/" + path.Base(a.header.Get("Location")), err
}

func (w *world) move(user, path string, body map[string]any) error {
	_, err := w.as(user, http.MethodPatch, path, body)
	return err
}

// reached are the boxes that a stage is the first to reach.
func reached(c channel, target string, boxes []string, stage int) (some []string) {
	for _, box := range boxes {
		if cohort.FirstStage(c.edgeType, target, box) == stage {
			some = append(some, box)
		}
	}
	return some
}

// tell has a box poll that is to be told a version.
func (w *world) tell(box, installed, version string) error {
	told, err := w.poll(box, installed)
	if err == nil && told != version {
		err = fmt.Errorf("%s was told %s, not %s", box, told, version)
	}
	return err
}

// install tells boxes the version, and has them run it at their next poll.
func (w *world) install(boxes []string, was, target string) error {
	return each(boxes, func(_ int, box string) error {
		err := w.tell(box, was, target)
		if err == nil {
			_, err = w.poll(box, target)
		}
		return err
	})
}

// factories makes the plants.
func (w *world) factories() error {
	var faults []error
	for _, id := range plants {
		_, err := w.as("seed", http.MethodPut, "/api/factories/"+id, map[string]any{"organizationId": "acme", "name": id})
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}
