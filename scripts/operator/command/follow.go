package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"wavegate/scripts/operator/api"
)

// resized is the longest time until a screen of another size is redrawn.
const resized = 250 * time.Millisecond

// controlC is what the key sends if the terminal makes no signal of it.
const controlC = 3

// An outcome is the result of a look or of a halt.
type outcome struct {
	view view // of a look
	halt bool
	err  error
}

// follow looks until the rollout ends. If a look fails, it says so, and the last view stays. Keys work during calls,
// so that one can halt or leave even if the service does not answer.
func (a *app) follow(ctx context.Context, c *api.Client, v view, every time.Duration, draw func(v view, note string), keys <-chan byte) (view, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	came := make(chan outcome)
	begin := func(call func() outcome) {
		go func() {
			select {
			case came <- call():
			case <-ctx.Done():
			}
		}()
	}
	var asked time.Time
	current, due, pause := time.Now(), time.After(every), every
	look := func() {
		asked, due = time.Now(), nil // until it has come
		was := v
		begin(func() outcome {
			next, err := was.again(ctx, c)
			return outcome{view: next, err: err}
		})
	}
	redraw := time.NewTicker(resized)
	defer redraw.Stop()
	said, stale := "", ""              // what the keys and the looks have to say
	armed, halting := false, false     // H was pressed once, and twice
	notSince := func(why any) string { // the last view was current
		return fmt.Sprintf("not up to date since %s: %s", clock(current), why)
	}
	for {
		draw(v, strings.TrimSpace(said+"  "+stale))
		if v.rollout.Status != "active" {
			return v, ended(v.rollout)
		}
		select {
		case <-ctx.Done():
			return v, ctx.Err()
		case <-redraw.C:
			if due == nil && stale == "" && time.Since(asked) > patient {
				stale = notSince("no answer yet")
			}
		case <-due:
			look()
		case key := <-keys:
			switch {
			case key == controlC:
				return v, context.Canceled
			case halting: // a halt is worth waiting for
			case key == 'q':
				return v, nil
			case key == 'H' && armed:
				said, halting = "halting …", true
				r, firm := v.rollout, *c
				firm.Reach = c.Patience // a halt is worth trying
				begin(func() outcome {
					return outcome{halt: true, err: a.move(ctx, &firm, r, map[string]any{"status": "halted"}, "")}
				})
			case key == 'H':
				said = "press H again to halt " + v.rollout.TargetVersion + " on " + v.rollout.ChannelID()
			case key == 'p':
				said = "promote in another terminal: wavegate promote " + v.rollout.ChannelID()
			default:
				said = ""
			}
			armed = key == 'H' && !armed
		case o := <-came:
			switch code := codeOf(o.err); {
			case o.halt:
				// The next look shows the result. A look that is under way may be older than the halt.
				if said, halting, pause = a.told("halted", o.err), false, 0; due != nil {
					due = time.After(0)
				}
				continue
			case o.err == nil:
				v, current, stale = o.view, time.Now(), ""
			case code == SignIn || code == Refused:
				return v, o.err
			default:
				stale = notSince(o.err)
			}
			due, pause = time.After(pause), every
		}
	}
}
