package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/operations"
)

// A scene is the world in the middle of a rollout that fails.
type scene struct {
	failing  string // the path of the rollout
	good     string // that of one that goes well
	box      string // one that failed
	waiting  string // one that the rollout has reached and that did not poll yet
	stable   channel
	target   string
	previous string
}

// failures are what the bad boxes say, in turn.
var failures = []struct{ code, detail string }{
	{"boot", "no heartbeat within 90 s"}, {"boot", "kernel panic, slot b"}, {"health", "line controller does not answer"},
	{"boot", "no heartbeat within 90 s"}, {"install", "cannot write /boot"},
}

// policy is that of the rollout that fails.
var policy = map[string]any{
	"promote":   map[string]any{"auto": true, "windows": []map[string]any{{"days": []string{"mon", "tue", "wed", "thu", "fri"}, "from": "06:00", "to": "22:00", "timeZone": "Europe/Berlin"}}},
	"approvals": map[string]any{"before": []int{50, 100}},
}

// play plays the scene with a fleet of n boxes: a rollout at 10 percent that goes wrong, one that goes well,
// one that was halted, and a channel without any.
func (w *world) play(n int) (s scene, err error) {
	s = scene{stable: channel{"gateway-x", "stable", "1.0.0"}, target: "1.1.0", previous: "1.0.0"}
	if err := w.factories(); err != nil {
		return s, err
	}
	boxes, err := w.register(s.stable, "box-", n)
	if err != nil {
		return s, err
	}
	if s.good, err = w.others(max(n/15, 40)); err != nil {
		return s, err
	}
	if s.failing, err = w.start("otto", s.stable, s.target, policy); err != nil {
		return s, err
	}
	if err := w.install(reached(s.stable, s.target, boxes, 1), s.previous, s.target); err != nil {
		return s, err
	}
	if err := w.tick(); err != nil {
		return s, err
	}
	if err := w.move("otto", s.failing, map[string]any{"staged_percent": 10, "reason": "All boxes of the first stage are fine", "overrideReason": "Agreed with the plants"}); err != nil {
		return s, err
	}
	// Boxes that the stage does not reach are what the guard compares with.
	others := reached(s.stable, s.target, boxes, 50)
	if err := each(others[:min(200, len(others))], func(_ int, box string) error { _, err := w.poll(box, s.previous); return err }); err != nil {
		return s, err
	}
	return s, w.spoil(&s, reached(s.stable, s.target, boxes, 10))
}

// spoil plays the second stage: most boxes install the release, some fail, and some were not heard of yet.
func (w *world) spoil(s *scene, boxes []string) error {
	told := boxes[:len(boxes)*4/5]
	s.waiting = boxes[len(boxes)-1]
	bad := max(3, len(boxes)*28/1000)
	moments := 3
	if w.slow {
		moments = 9
	}
	parts := slices.Collect(slices.Chunk(told, len(told)/moments+1))
	seen := 0
	for i, part := range parts {
		err := each(part, func(j int, box string) error {
			if err := w.tell(box, s.previous, s.target); err != nil {
				return err
			}
			switch at := seen + j; {
			case at%(len(told)/bad) == 2: // spread over the stage
				f := failures[at/(len(told)/bad)%len(failures)]
				return w.report(box, map[string]any{"version": s.target, "outcome": "failed", "code": f.code, "detail": f.detail})
			case at%31 == 5:
				return w.report(box, map[string]any{"version": s.target, "outcome": "deferred", "until": inAnHour()})
			case i == len(parts)-1: // still at it
				return nil
			}
			_, err := w.poll(box, s.target)
			return err
		})
		if err != nil {
			return err
		}
		seen += len(part)
		if err := w.tick(); err != nil {
			return err
		}
	}
	s.box = told[2]
	return nil
}

func inAnHour() string { return time.Now().Add(time.Hour).UTC().Format(time.RFC3339) }

// promoted waits until the guard has promoted a rollout to its second stage. The boxes of the first go on polling.
func (w *world) promoted(path string, first []string) error {
	for range 10 {
		time.Sleep(1100 * time.Millisecond)
		if err := each(first, func(_ int, box string) error { _, err := w.poll(box, "2.4.0"); return err }); err != nil {
			return err
		}
		if err := w.RunTask(w.ctx, operations.Tick); err != nil {
			return err
		}
		a, err := w.as("mia", http.MethodGet, path, nil)
		if err != nil || bytes.Contains(a.body, []byte(`"staged_percent":10,`)) {
			return err
		}
	}
	a, err := w.as("mia", http.MethodGet, path+"/progress", nil)
	return errors.Join(fmt.Errorf("the guard does not promote: %s", a.body), err)
}

// others plays what else goes on.
func (w *world) others(n int) (path string, err error) {
	good := channel{"gateway-y", "stable", "2.3.1"}
	if err := w.publish("mia", good); err != nil {
		return "", err
	}
	boxes, err := w.register(good, "cell-", n)
	if err != nil {
		return "", err
	}
	path, err = w.start("mia", good, "2.4.0", map[string]any{"guard": map[string]any{"silentAfter": "PT5S", "decideWithin": "PT2S"},
		"promote": map[string]any{"auto": true, "soak": map[string]any{"1": "PT2S", "10": "PT12H"}}})
	if err != nil {
		return "", err
	}
	for _, stage := range cohort.Stages[:3] {
		if stage == 10 {
			if err := w.promoted(path, reached(good, "2.4.0", boxes, 1)); err != nil {
				return "", err
			}
		} else if stage > 1 {
			if err := w.move("mia", path, map[string]any{"staged_percent": stage, "reason": "The night shift wants it before Monday"}); err != nil {
				return "", err
			}
		}
		some := reached(good, "2.4.0", boxes, stage)
		if stage == 50 {
			some = some[:len(some)*2/3]
		}
		if err := w.install(some, "2.3.1", "2.4.0"); err != nil {
			return "", err
		}
	}
	line := channel{"press-line", "stable", "7.0.2"}
	if err := w.publish("mia", line); err != nil {
		return "", err
	}
	halted, err := w.start("mia", line, "7.1.0", nil)
	if err != nil {
		return "", err
	}
	if err := w.move("mia", halted, map[string]any{"status": "halted", "reason": "The torque readings are off by ten"}); err != nil {
		return "", err
	}
	if _, err := w.as("otto", http.MethodPut, "/api/rate-limits/users/mes-integration?issuer=https%3A%2F%2Fpeople.wavegate.localhost",
		map[string]any{"limit": 3000, "reason": "Line controllers of hall 2 poll for orders"}); err != nil {
		return "", fmt.Errorf("a limit: %w", err)
	}
	return path, nil
}
