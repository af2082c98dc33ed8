package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) watch() *cobra.Command {
	var every time.Duration
	cmd := &cobra.Command{
		Use: "watch CHANNEL", Short: "Follow a rollout until it ends",
		Long: "Follows the rollout of a channel until it ends, and shows at the end how it went. On a terminal it uses the whole\n" +
			"screen. Without a terminal, or with --plain, it prints a line for each change, and with --json one document per line.\n" +
			"It exits with 0 if the rollout was completed or you pressed q, and with 3 if it ended in another way.",
		Example: "  wavegate watch gateway-x/stable\n  wavegate watch gateway-x/stable --json | jq -r .progress.guard.sentence",
		Args:    cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, c, err := a.onChannel(args)
			if err != nil {
				return err
			}
			r, err := a.latest(ctx, c, name)
			if err != nil {
				return err
			}
			v, err := look(ctx, c, r.ID, "")
			if err != nil {
				return err
			}
			if a.Draws && !a.plain && !a.json {
				v, err = a.onScreen(ctx, c, v, every)
			} else {
				v, err = a.follow(ctx, c, v, every, a.lines(), nil)
			}
			if !a.json && ctx.Err() == nil {
				a.sums(ctx, c, v)
			}
			return err
		}),
	}
	cmd.Flags().DurationVar(&every, "every", 10*time.Second, "how often to look")
	return cmd
}

// Switch to the alternate screen of a terminal without a cursor, and back.
const (
	otherScreen = "\x1b[?1049h\x1b[?25l"
	firstScreen = "\x1b[?25h\x1b[?1049l"
)

// onScreen follows a rollout on the terminal's alternate screen.
func (a *app) onScreen(ctx context.Context, c *api.Client, v view, every time.Duration) (view, error) {
	restore, err := a.Raw()
	if err != nil {
		return v, err
	}
	defer restore()
	fmt.Fprint(a.Out, otherScreen)
	defer fmt.Fprint(a.Out, firstScreen)
	quiet := *c
	quiet.Trying, quiet.Failed = nil, nil // the screen itself shows failed requests
	return a.follow(ctx, &quiet, v, every, a.redraws(), a.keys())
}

// sums shows at the end how the rollout went, and what can be done next.
func (a *app) sums(ctx context.Context, c *api.Client, v view) {
	if v.rollout.Status != "active" {
		if channel, _, err := api.Get[api.Channel](ctx, c, api.ChannelPath(v.rollout.ChannelID()), nil); err == nil {
			v.channel = channel
		}
		if err := v.ends(ctx, c); err != nil {
			a.note("wavegate: why it ended could not be read: %s", err)
		}
	}
	a.showView(v)
	a.offer(v)
}

// told returns what the screen says after an action: that it is done, or why it failed.
func (a *app) told(done string, err error) string {
	if operation, is := forbidden(err); is {
		return a.mayDo(operation)
	}
	if err != nil {
		return err.Error()
	}
	return done
}

// ended returns the error for a rollout that is no longer active, which sets the exit code.
func ended(r api.Rollout) error {
	switch {
	case r.Status == "completed" && r.Adopted:
		return nil
	}
	return fail(Otherwise, "the rollout was %s%s, at %d %%", r.Status, byWhat(r), r.StagedPercent)
}

// byGuard is the value of endedBy if the guard halted or completed the rollout.
const byGuard = "guard"

// byWhat says what ended a rollout, as text to append; empty if a person did, or if it is active.
func byWhat(r api.Rollout) string {
	switch r.EndedBy {
	case "":
		return ""
	case byGuard:
		return " by the guard"
	}
	return " by a " + r.EndedBy
}

// lines prints a line for each change; with --json, the line is a document.
func (a *app) lines() func(view, string) {
	last, lastNote := "", ""
	return func(v view, note string) {
		text := v.brief()
		if a.json {
			text = string(v.both())
		}
		if text != last {
			if last = text; !a.json {
				text = time.Now().Format("15:04:05") + " " + printable(text)
			}
			fmt.Fprintln(a.Out, text)
		}
		if note != lastNote {
			if lastNote = note; note != "" {
				fmt.Fprintln(a.Err, "wavegate: "+printable(note))
			}
		}
	}
}

// redraws draws the view over the whole alternate screen.
func (a *app) redraws() func(view, string) {
	last := ""
	return func(v view, note string) {
		columns, rows := a.Size()
		list := v.lines(columns, time.Now())
		if note != "" {
			list = slices.Insert(list, 2, line{red, "", note})
		}
		if drawn := frame(fit(list, a.keysOf(v), columns, rows), rows, a.colours()); drawn != last {
			last = drawn
			fmt.Fprint(a.Out, drawn)
		}
	}
}

// keysOf lists the keys, and says until when the person can halt without signing in again.
func (a *app) keysOf(v view) []line {
	who, until, ok := a.person()
	if !ok || !slices.Contains(who.Roles, "platform_owner") {
		return []line{{"", "", "q quit. You can only watch; a platform owner can halt."}}
	}
	return []line{
		{"", "", fmt.Sprintf("ready to halt: %s until %s", who.Subject, clock(until))},
		{"", "", "H H halt   q quit   promote: wavegate promote " + v.rollout.ChannelID()},
	}
}

// keys returns a channel of pressed keys.
func (a *app) keys() <-chan byte {
	keys := make(chan byte)
	go func() {
		for b := make([]byte, 1); ; {
			if n, err := a.In.Read(b); err != nil || n == 0 {
				return
			}
			keys <- b[0]
		}
	}()
	return keys
}
