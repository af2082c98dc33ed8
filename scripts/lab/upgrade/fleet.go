package upgrade

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/problem"
)

// A box of the fleet, and the version that it runs.
type box struct{ id, channel, running string }

func (b box) caller() samples.Caller { return samples.Caller{User: b.id, Role: auth.Edge} }

func (b box) poll() samples.Call {
	return samples.Call{By: b.caller(), Method: http.MethodGet, Path: "/api/edges/" + b.id + "/update/manifest?installed=" + b.running}
}

const (
	edgeType = "fleet-u"
	before   = "1.0.0"
	after    = "1.1.0"
	// perChannel is the number of boxes on each channel.
	perChannel = 20
	// passing lets a move pass a freeze that a sample has set.
	passing = `,"overrideReason":"not held up by a sample"`
)

// lives are the channels of the fleet, and the moves of their rollouts, before the boxes polled and after; nil: there is
// none.
var lives = []struct {
	channel      string
	first, later []string
}{
	{"calm", nil, nil},
	{"one", []string{}, nil},
	{"ten", []string{stage(10)}, nil},
	{"fifty", []string{stage(10), stage(50)}, nil},
	{"all", []string{stage(10), stage(50), stage(100)}, nil},
	{"halted", []string{stage(10), stage(50)}, []string{halt}},
	{"resumed", []string{stage(10)}, []string{halt, resume}},
	{"adopted", []string{stage(10), stage(50), stage(100)}, []string{complete}},
	{"ended", []string{stage(10), stage(50)}, []string{complete}},
	{"back", []string{stage(10), stage(50), stage(100)}, []string{halt, again}},
}

// cached is longer than a container may tell a box what its channel was before.
const cached = 3 * time.Second

const (
	halt     = `{"status":"halted"}`
	resume   = `{"status":"active"` + passing + `}`
	complete = `{"status":"completed"}`
	// again publishes the version from before the rollout, to which the boxes are sent back.
	again = "again"
)

func stage(percent int) string { return fmt.Sprintf(`{"staged_percent":%d%s}`, percent, passing) }

// fleet makes channels with rollouts in each state, and boxes that polled and reported before and after.
func (d *Deployment) fleet() error {
	if err := d.publish("canary", after); err != nil {
		return err
	}
	for _, l := range lives {
		if err := d.publish(l.channel, before); err != nil {
			return err
		}
		var list []string
		for i := range perChannel {
			b := box{fmt.Sprintf("%s-%s-%d", edgeType, l.channel, i), l.channel, "0.9.0"}
			d.boxes = append(d.boxes, b)
			list = append(list, fmt.Sprintf(`{"edgeId":%q,"edgeType":%q,"channel":%q,"organizationId":%q}`, b.id, edgeType, l.channel, organization))
			for _, read := range []string{"get-edge", "get-update-why"} {
				path := strings.ReplaceAll(table.Get(read).Path, "{edgeId}", b.id)
				d.shows(samples.Call{Operation: read, By: samples.Owner, Method: http.MethodGet, Path: path})
			}
		}
		if _, err := d.must(samples.Owner, http.MethodPost, "/api/edges", `{"edges":[`+strings.Join(list, ",")+`]}`); err != nil {
			return err
		}
		for _, read := range []string{"get-release-channel", "get-channel-progress"} {
			path := strings.NewReplacer("{edgeType}", edgeType, "{channel}", l.channel).Replace(table.Get(read).Path)
			d.shows(samples.Call{Operation: read, By: samples.Owner, Method: http.MethodGet, Path: path})
		}
	}
	if err := d.everyBox(); err != nil {
		return err
	}
	paths := map[string]string{}
	for _, l := range lives {
		if l.first == nil {
			continue
		}
		var err error
		if paths[l.channel], err = d.start(l.channel, after); err != nil {
			return err
		}
		if err := d.moves(paths[l.channel], l.channel, l.first); err != nil {
			return err
		}
	}
	if err := d.everyBox(); err != nil {
		return err
	}
	for _, l := range lives {
		if err := d.moves(paths[l.channel], l.channel, l.later); err != nil {
			return err
		}
	}
	return d.everyBox()
}

func (d *Deployment) publish(channel, version string) error {
	body := fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://artifacts.example.com/%s/%s.tar.gz","sha256":%q%s}`,
		version, edgeType, version, strings.Repeat(version[2:3]+"a", 32), passing)
	_, err := d.must(samples.Owner, http.MethodPut, "/api/ota/release-channels/"+edgeType+"/"+channel, body)
	return err
}

// start starts a rollout, and returns its path.
func (d *Deployment) start(channel, target string) (path string, err error) {
	a, err := d.must(samples.Owner, http.MethodPost, "/api/ota/rollouts",
		fmt.Sprintf(`{"edgeType":%q,"channel":%q,"targetVersion":%q%s}`, edgeType, channel, target, passing))
	if err != nil {
		return "", err
	}
	path = a.Header.Get("Location")
	for _, more := range []string{"", "/policy", "/progress/history", "/edges?state=failed&limit=100", "/edges?state=installed&limit=100"} {
		d.shows(samples.Call{By: samples.Owner, Method: http.MethodGet, Path: path + more})
	}
	d.shows(samples.Call{Operation: "get-rollout-progress", By: samples.Owner, Method: http.MethodGet, Path: path + "/progress"})
	return path, nil
}

// moves moves the rollout at a path.
func (d *Deployment) moves(path, channel string, moves []string) (err error) {
	for _, m := range moves {
		if m == again {
			err = d.publish(channel, before)
		} else {
			_, err = d.must(samples.Owner, http.MethodPatch, path, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// everyBox has the boxes poll and report. One of four does nothing, one installs what it is told, one fails to, and one
// defers it.
func (d *Deployment) everyBox() error {
	time.Sleep(cached)
	return each(numbers(len(d.boxes)), func(i int) error {
		b := &d.boxes[i]
		if i%4 == 0 {
			return nil
		}
		for range 10 {
			a, err := d.visit(b, i%4)
			if err != nil || a.Status == http.StatusOK {
				return err
			}
			if !refused(a, problem.ReportStale) {
				return fmt.Errorf("upgrade: the report of %s is answered with %d: %s", b.id, a.Status, a.Body)
			}
			time.Sleep(time.Second) // the poll was answered, but the store was too slow to record it
		}
		return fmt.Errorf("upgrade: the polls of %s are not recorded", b.id)
	})
}

// visit has a box poll and install, or report on, what it is told. It returns the last answer.
func (d *Deployment) visit(b *box, way int) (harness.Answer, error) {
	a, err := d.must(b.caller(), http.MethodGet, b.poll().Path, "")
	if err != nil {
		return a, err
	}
	var told struct{ Version string }
	if err := json.Unmarshal(a.Body, &told); err != nil {
		return a, err
	}
	outcome := map[int]string{2: `"failed","code":"boot","detail":"no heartbeat"`, 3: `"deferred"`}[way]
	if outcome == "" {
		b.running = told.Version
		return d.must(b.caller(), http.MethodGet, b.poll().Path, "")
	}
	return d.call(b.caller(), http.MethodPut, "/api/edges/"+b.id+"/update/report",
		fmt.Sprintf(`{"version":%q,"attempt":1,"outcome":%s}`, told.Version, outcome))
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
