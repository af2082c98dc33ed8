package demo

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"wavegate/shared/fleet/rollout"
)

const introduction = `
The demo is ready after %.0f s: %s boxes in %d factories.

  %s

This address opens the operator's page and signs you in as olga, who is allowed to do everything. Its first view shows:

%s
Each halt brings the boxes back to 1.0.0. Until it is halted, a rollout also lists its boxes that wait for a plant:

  plant-%-11d waits for its window, which begins at %s UTC: its boxes are told nothing new before.

Click on a rollout to see its stages, its bad boxes and the guard's verdict, and on Log to see who did what. A soak, which
takes a day by default, takes 50 seconds here. There is also the recall of a production method:

  Press housings    made plant-01's housings. %d of %d machines have not confirmed that they stopped:
                    %s. This lists them:

%s

The boxes belong to acme. Its people see them, and what rollouts do with them, and nothing of others. To see that as anna, an
admin of acme, open this address in another private window:

  %s

What happens is printed below. Ctrl-C ends the demo.

`

func (d *demo) introduce(took time.Duration, address string, r recall, opens time.Time) {
	var rows strings.Builder
	for _, story := range stories {
		fmt.Fprintf(&rows, "  %-17s %s\n", story.channel(), story.shows)
	}
	_, _ = fmt.Fprintf(d.out, introduction, took.Seconds(), grouped(boxes*len(stories)), plants, address, &rows,
		plants, opens.Format(clock), len(r.open), presses, strings.Join(r.open, ", "), d.list(r), d.address(anna))
}

func (d *demo) say(format string, args ...any) {
	_, _ = fmt.Fprintf(d.out, time.Now().Format("15:04:05  ")+format+"\n", args...)
}

// An event has the fields of a rollout's audit event that the demo reads.
type event struct {
	Actor  struct{ UserID string }
	Reason string
	After  rollout.Rollout
	Cause  struct{ Sentence string }
}

const mostFailures = 30

// follow prints the course of the rollouts until the context ends.
func (d *demo) follow(ctx context.Context, rollouts []string) error {
	told := map[string]int64{} // the last revision
	failures := 0
	for tick := time.NewTicker(time.Second); ctx.Err() == nil; {
		for _, id := range rollouts {
			switch err := d.tell(ctx, id, told); {
			case err == nil:
				failures = 0
			case failures == mostFailures:
				return err
			default:
				failures++ // a busy machine may answer late
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// tell prints the events of a rollout that were not printed yet.
func (d *demo) tell(ctx context.Context, id string, told map[string]int64) error {
	var now rollout.Rollout
	if _, err := d.call(ctx, olga, http.MethodGet, "/api/ota/rollouts/"+id, "", &now); err != nil || now.Revision == told[id] {
		return err
	}
	var page struct{ Items []event }
	_, err := d.call(ctx, olga, http.MethodGet, "/api/audit-events?resourceType=rollout&resourceId="+id, "", &page)
	for _, e := range slices.Backward(page.Items) {
		if e.After.Revision > told[id] {
			told[id] = e.After.Revision
			d.say("%s", e.line())
		}
	}
	return err
}

// line describes an event: which rollout, where it is now, who moved it, and why.
func (e event) line() string {
	r := e.After
	state := fmt.Sprintf("at %d percent", r.StagedPercent)
	if r.Status != rollout.Active {
		state = fmt.Sprintf("%s at %d percent", r.Status, r.StagedPercent)
	}
	why := e.Cause.Sentence
	if why == "" {
		why = e.Reason
	}
	return strings.TrimSuffix(fmt.Sprintf("%s/%s %s: %s, by %s. %s", r.EdgeType, r.Channel, r.TargetVersion, state, e.Actor.UserID, why), " ")
}

// grouped formats a number of up to six digits with a comma.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
