package rollouts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
)

// stages lists the stages for people.
var stages = strings.Trim(strings.ReplaceAll(fmt.Sprint(cohort.Stages), " ", ", "), "[]")

func wait(r *run.Run) *cobra.Command {
	var until string
	var every, timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait CHANNEL --until STAGE|ended", Short: "Wait until a rollout is at a stage, or has ended",
		Example: "wavegate wait gateway-x/stable --until ended\nwavegate wait gateway-x/stable --until 10 --timeout 2h",
		Long: "Waits until the rollout of a channel has reached a stage (" + stages + "), or has ended. It exits with 3 if the " +
			"rollout ended before the stage or was not completed, and with 6 after the timeout.",
	}
	cmd.Flags().StringVar(&until, "until", "ended", stages+" or ended")
	cmd.Flags().DurationVar(&every, "every", 5*time.Second, "how often to look")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait; by default, forever")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		stage, err := strconv.Atoi(until)
		if until != "ended" && (err != nil || !slices.Contains(cohort.Stages, stage)) {
			return run.Fail(run.Misused, "--until %q is unknown; it is %s or ended", until, stages)
		}
		c.Client.Reach = c.Client.Patience // it may wait for hours, and the network fails for moments
		if timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		asked := time.Now()
		v, err := latest(ctx, c, c.Args[0])
		for last := v.rollout; ; last = v.rollout {
			switch {
			case ctx.Err() == context.DeadlineExceeded && (last.ID == "" || err != nil && time.Since(asked) > run.Patient):
				return run.Fail(run.Unknown, "the timeout is over, and the rollout could not be read")
			case ctx.Err() == context.DeadlineExceeded:
				return run.Fail(run.Late, "the timeout is over; the rollout is at %d %% and %s", last.StagedPercent, last.Status)
			case err != nil:
				return err
			case until != "ended" && last.StagedPercent >= stage && (last.Status == rollout.Active || last.Adopted):
				return c.Done(ctx, api.RolloutPath(last.ID), "%s is at %d %%", c.Args[0], last.StagedPercent)
			case last.Status != rollout.Active:
				if err := c.Shown(ctx, api.RolloutPath(last.ID)); err != nil {
					return err
				}
				return ended(last)
			}
			select {
			case <-ctx.Done():
			case <-time.After(every):
			}
			asked = time.Now()
			var now rollout.Rollout
			if now, _, err = api.Get[rollout.Rollout](ctx, c, api.RolloutPath(last.ID), nil); err == nil {
				v.rollout = now
			}
		}
	})
}

func watch(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "watch CHANNEL", Short: "Follow a rollout until it ends",
		Long: "Follows the rollout of a channel until it ends, and shows at the end how it went. On a terminal it uses the whole " +
			"screen. Without a terminal, or with --plain, it prints a line for each change, and with --json one document per line. " +
			"It exits with 0 if the rollout was completed or you pressed q, and with 3 if it ended in another way.",
		Example: "wavegate watch gateway-x/stable\nwavegate watch gateway-x/stable --json | jq -r .progress.guard.sentence",
	}
	every := cmd.Flags().Duration("every", 10*time.Second, "how often to look")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		v, err := latest(ctx, c, c.Args[0])
		if err != nil {
			return err
		}
		if v, err = look(ctx, c, v.rollout.ID, ""); err != nil {
			return err
		}
		if c.Draws && !c.Plain && !c.JSON {
			v, err = onScreen(ctx, c, v, *every)
		} else {
			v, err = follow(ctx, c, v, *every, lines(c), nil)
		}
		if !c.JSON && ctx.Err() == nil {
			sums(ctx, c, v)
		}
		return err
	})
}

// Switch to the alternate screen of a terminal without a cursor, and back.
const (
	otherScreen = "\x1b[?1049h\x1b[?25l"
	firstScreen = "\x1b[?25h\x1b[?1049l"
)

// onScreen follows a rollout on the terminal's alternate screen.
func onScreen(ctx context.Context, c *run.Call, v view, every time.Duration) (view, error) {
	restore, err := c.Raw()
	if err != nil {
		return v, err
	}
	defer restore()
	fmt.Fprint(c.Out, otherScreen)
	defer fmt.Fprint(c.Out, firstScreen)
	quiet := *c.Client
	quiet.Trying, quiet.Failed = nil, nil // the screen itself shows failed requests
	return follow(ctx, &run.Call{Run: c.Run, Client: &quiet, Args: c.Args}, v, every, redraws(c), keys(c))
}

// sums shows at the end how the rollout went, and what can be done next.
func sums(ctx context.Context, c *run.Call, v view) {
	if v.rollout.Status != rollout.Active {
		if channel, _, err := api.Get[release.View](ctx, c, api.ChannelPath(idOf(v.rollout)), nil); err == nil {
			v.channel = channel
		}
		if err := v.ends(ctx, c); err != nil {
			c.Note("wavegate: why it ended could not be read: %s", err)
		}
	}
	c.ShowLines(v.lines(c.Columns(), time.Now()))
	offer(c, v)
}

// result returns what the screen says after an action: that it is done, or why it failed.
func result(c *run.Call, done string, err error) string {
	if text, is := c.MayNot(err); is {
		return text
	}
	if err != nil {
		return err.Error()
	}
	return done
}

// both returns the rollout and its progress as one document.
func (v view) both() string {
	text, _ := run.Written(struct { // documents that were parsed can be encoded
		Rollout  json.RawMessage `json:"rollout"`
		Progress json.RawMessage `json:"progress,omitempty"`
	}{v.document, v.counts})
	return string(text)
}

// ended returns the error for a rollout that is no longer active, which sets the exit code.
func ended(r rollout.Rollout) error {
	if r.Status == rollout.Completed && r.Adopted {
		return nil
	}
	return run.Fail(run.Otherwise, "the rollout was %s%s, at %d %%", r.Status, byWhat(r), r.StagedPercent)
}

// lines prints a line for each change; with --json, the line is a document.
func lines(c *run.Call) func(view, string) {
	last, lastNote := "", ""
	return func(v view, note string) {
		text := v.brief()
		if c.JSON {
			text = v.both()
		}
		if text != last {
			if last = text; !c.JSON {
				text = time.Now().Format("15:04:05") + " " + terminal.Printable(text)
			}
			fmt.Fprintln(c.Out, text)
		}
		if note != lastNote {
			if lastNote = note; note != "" {
				fmt.Fprintln(c.Err, "wavegate: "+terminal.Printable(note))
			}
		}
	}
}

// redraws draws the view over the whole alternate screen.
func redraws(c *run.Call) func(view, string) {
	last := ""
	return func(v view, note string) {
		columns, rows := c.Size()
		list := v.lines(columns, time.Now())
		if note != "" {
			list = slices.Insert(list, 2, terminal.Line{Mark: terminal.Red, Text: note})
		}
		if drawn := terminal.Frame(terminal.Fit(list, keysOf(c, v), columns, rows), rows, c.Colours()); drawn != last {
			last = drawn
			fmt.Fprint(c.Out, drawn)
		}
	}
}

// keysOf lists the keys, and says until when the person can halt without signing in again.
func keysOf(c *run.Call, v view) []terminal.Line {
	who, until, ok := c.Person()
	if !ok || !slices.Contains(who.Roles, "platform_owner") {
		return []terminal.Line{{Text: "q quit. You can only watch; a platform owner can halt."}}
	}
	return []terminal.Line{
		{Text: fmt.Sprintf("ready to halt: %s until %s", who.Subject, clock(until))},
		{Text: "H H halt   q quit   promote: wavegate promote " + idOf(v.rollout)},
	}
}

// keys returns a channel of pressed keys.
func keys(c *run.Call) <-chan byte {
	keys := make(chan byte)
	go func() {
		for b := make([]byte, 1); ; {
			if n, err := c.In.Read(b); err != nil || n == 0 {
				return
			}
			keys <- b[0]
		}
	}()
	return keys
}

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
func follow(ctx context.Context, c *run.Call, v view, every time.Duration, draw func(v view, note string), keys <-chan byte) (view, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	f := &follower{Call: c, view: v, every: every, came: make(chan outcome), current: time.Now(), due: time.After(every), pause: every}
	redraw := time.NewTicker(resized)
	defer redraw.Stop()
	for {
		draw(f.view, strings.TrimSpace(f.said+"  "+f.stale))
		if f.rollout.Status != rollout.Active {
			return f.view, ended(f.rollout)
		}
		select {
		case <-ctx.Done():
			return f.view, ctx.Err()
		case <-redraw.C:
			if f.due == nil && f.stale == "" && time.Since(f.asked) > run.Patient {
				f.outdated("no answer yet")
			}
		case <-f.due:
			f.look(ctx)
		case key := <-keys:
			switch {
			case key == controlC:
				return f.view, context.Canceled
			case key == 'q' && !f.halting: // a halt is worth waiting for
				return f.view, nil
			}
			f.press(ctx, key)
		case o := <-f.came:
			if err := f.take(o); err != nil {
				return f.view, err
			}
		}
	}
}

// A follower looks at a rollout, and halts it.
type follower struct {
	*run.Call
	view
	every, pause   time.Duration
	came           chan outcome
	asked, current time.Time        // when the last look began, and when the view was current
	due            <-chan time.Time // nil while a look is under way
	said, stale    string           // what the keys and the looks have to say
	armed, halting bool             // H was pressed once, and twice
}

func (f *follower) begin(ctx context.Context, call func() outcome) {
	go func() {
		select {
		case f.came <- call():
		case <-ctx.Done():
		}
	}()
}

func (f *follower) look(ctx context.Context) {
	f.asked, f.due = time.Now(), nil
	was := f.view
	f.begin(ctx, func() outcome {
		next, err := was.again(ctx, f.Call)
		return outcome{view: next, err: err}
	})
}

func (f *follower) outdated(why any) {
	f.stale = fmt.Sprintf("not up to date since %s: %s", clock(f.current), why)
}

// press does what a key asks for.
func (f *follower) press(ctx context.Context, key byte) {
	switch {
	case f.halting:
	case key == 'H' && f.armed:
		f.said, f.halting = "halting …", true
		r, firm := f.rollout, *f.Client
		firm.Reach = firm.Patience // a halt is worth trying
		f.begin(ctx, func() outcome {
			return outcome{halt: true, err: steer(ctx, &run.Call{Run: f.Run, Client: &firm}, r, map[string]any{"status": rollout.Halted})}
		})
	case key == 'H':
		f.said = "press H again to halt " + f.rollout.TargetVersion + " on " + idOf(f.rollout)
	case key == 'p':
		f.said = "promote in another terminal: wavegate promote " + idOf(f.rollout)
	default:
		f.said = ""
	}
	f.armed = key == 'H' && !f.armed
}

// take takes the result of a look or of a halt. It returns an error that further looks would have, too.
func (f *follower) take(o outcome) error {
	switch code := run.CodeOf(o.err); {
	case o.halt:
		// The next look shows the result. A look that is under way may be older than the halt.
		if f.said, f.halting, f.pause = result(f.Call, "halted", o.err), false, 0; f.due != nil {
			f.due = time.After(0)
		}
		return nil
	case o.err == nil:
		f.view, f.current, f.stale = o.view, time.Now(), ""
	case code == run.SignIn || code == run.Refused:
		return o.err
	default:
		f.outdated(o.err)
	}
	f.due, f.pause = time.After(f.pause), f.every
	return nil
}
