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
	"wavegate/shared/operations"
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

// lives are the channels of the fleet, and the moves of their rollouts; nil: there is none.
var lives = []struct {
	channel string
	moves   []string
}{
	{"calm", nil},
	{"one", []string{}},
	{"ten", []string{stage(10)}},
	{"fifty", []string{stage(10), stage(50)}},
	{"all", []string{stage(10), stage(50), stage(100)}},
	{"halted", []string{stage(10), stage(50), polls, halt}},
	{"resumed", []string{stage(10), polls, halt, resume}},
	{"adopted", []string{stage(10), stage(50), stage(100), polls, complete}},
	{"ended", []string{stage(10), stage(50), polls, complete}},
	{"back", []string{stage(10), stage(50), stage(100), polls, halt, again}},
}

const (
	halt     = `{"status":"halted"}`
	resume   = `{"status":"active"` + passing + `}`
	complete = `{"status":"completed"}`
	// polls has the boxes poll and report.
	polls = "polls"
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
				path := strings.ReplaceAll(operations.Get(read).Path, "{edgeId}", b.id)
				d.shows(samples.Call{Operation: read, By: samples.Owner, Method: http.MethodGet, Path: path})
			}
		}
		if _, err := d.must(samples.Owner, http.MethodPost, "/api/edges", `{"edges":[`+strings.Join(list, ",")+`]}`); err != nil {
			return err
		}
		for _, read := range []string{"get-release-channel", "get-channel-progress"} {
			path := strings.NewReplacer("{edgeType}", edgeType, "{channel}", l.channel).Replace(operations.Get(read).Path)
			d.shows(samples.Call{Operation: read, By: samples.Owner, Method: http.MethodGet, Path: path})
		}
	}
	if err := d.everyBox(""); err != nil {
		return err
	}
	for _, l := range lives {
		if l.moves == nil {
			continue
		}
		if err := d.rollout(l.channel, l.moves); err != nil {
			return err
		}
	}
	return d.everyBox("")
}

func (d *Deployment) publish(channel, version string) error {
	body := fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://artifacts.example.com/%s/%s.tar.gz","sha256":%q%s}`,
		version, edgeType, version, strings.Repeat(version[2:3]+"a", 32), passing)
	_, err := d.must(samples.Owner, http.MethodPut, "/api/ota/release-channels/"+edgeType+"/"+channel, body)
	return err
}

func (d *Deployment) rollout(channel string, moves []string) error {
	a, err := d.must(samples.Owner, http.MethodPost, "/api/ota/rollouts",
		fmt.Sprintf(`{"edgeType":%q,"channel":%q,"targetVersion":%q%s}`, edgeType, channel, after, passing))
	if err != nil {
		return err
	}
	path := d.local(a.Header.Get("Location"))
	for _, m := range moves {
		switch m {
		case again:
			err = d.publish(channel, before)
		case polls:
			err = d.everyBox(channel)
		default:
			_, err = d.must(samples.Owner, http.MethodPatch, path, m)
		}
		if err != nil {
			return err
		}
	}
	for _, more := range []string{"", "/policy", "/progress/history", "/edges?state=failed&limit=100", "/edges?state=installed&limit=100"} {
		d.shows(samples.Call{By: samples.Owner, Method: http.MethodGet, Path: path + more})
	}
	d.shows(samples.Call{Operation: "get-rollout-progress", By: samples.Owner, Method: http.MethodGet, Path: path + "/progress"})
	return nil
}

// everyBox has the boxes of a channel, or of all channels, poll and report. One of four does nothing, one installs what it
// is told, one fails to, and one defers it.
func (d *Deployment) everyBox(channel string) error {
	return each(numbers(len(d.boxes)), func(i int) error {
		b := &d.boxes[i]
		if i%4 == 0 || channel != "" && b.channel != channel {
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
			time.Sleep(time.Second) // the poll was answered from a cached channel
		}
		return fmt.Errorf("upgrade: the box %s is told another version than it may report on", b.id)
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
