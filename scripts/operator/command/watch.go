package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

// byCount lists the keys with the highest numbers first.
func byCount(counts map[string]int) []string {
	var keys []string
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	return keys
}

func (a *app) watch() *cobra.Command {
	var every time.Duration
	cmd := &cobra.Command{
		Use: "watch CHANNEL", Short: "Follow a rollout until it ends",
		Long: "Follows the rollout of a channel until it ends. Without a terminal, or with --plain, it prints a line when something\n" +
			"has changed. It exits with 0 if the rollout was completed, and with 3 if it ended otherwise.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeChannel,
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, c, err := a.onChannel(args)
			if err != nil {
				return err
			}
			r, err := a.latest(ctx, c, name)
			if err != nil {
				return err
			}
			draw := a.lines()
			keys := make(<-chan byte)
			if a.Draws && !a.plain && !a.json {
				restore, err := a.Raw()
				if err != nil {
					return err
				}
				defer restore()
				draw, keys = a.redraws(name, c), a.keys()
			}
			v, err := look(ctx, c, r.ID, "")
			if err != nil {
				return err
			}
			return a.follow(ctx, c, v, every, draw, keys)
		}),
	}
	cmd.Flags().DurationVar(&every, "every", 10*time.Second, "how often to look")
	return cmd
}

// follow looks until the rollout ends. A look that fails is told, and the last view stays.
func (a *app) follow(ctx context.Context, c *api.Client, v view, every time.Duration, draw func(v view, note string), keys <-chan byte) error {
	note, last, halting := "", time.Now(), false
	for {
		draw(v, note)
		if v.rollout.Status != "active" {
			return ended(v.rollout)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case key := <-keys:
			note = ""
			switch {
			case key == 'q' || key == 3: // 3 is Control-C
				return nil
			case key == 'H' && halting:
				note = told("halted", a.move(ctx, c, v.rollout, map[string]any{"status": "halted"}, ""))
			case key == 'H':
				note = "press H again to halt"
			case key == 'p':
				note = "promote in another terminal: wavegate promote " + v.rollout.EdgeType + "/" + v.rollout.Channel
			}
			halting = key == 'H' && !halting
		case <-time.After(every):
		}
		next, err := v.again(ctx, c)
		switch code := codeOf(err); {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			if v, last = next, time.Now(); strings.HasPrefix(note, "not up to date") {
				note = ""
			}
		case code == SignIn || code == Refused:
			return err
		default:
			note = fmt.Sprintf("not up to date since %s: %s", clock(last), err)
		}
	}
}

func told(done string, err error) string {
	if err != nil {
		return err.Error()
	}
	return done
}

// ended is what a rollout that is not active any more means for the exit code.
func ended(r api.Rollout) error {
	switch {
	case r.Status == "completed" && r.Adopted:
		return nil
	}
	return fail(Otherwise, "the rollout was %s%s, at %d %%", r.Status, byWhat(r), r.StagedPercent)
}

// byGuard is what ended a rollout that the guard halted or completed.
const byGuard = "guard"

// byWhat is what ended a rollout, as words to append; empty where a person did, or it is active.
func byWhat(r api.Rollout) string {
	switch r.EndedBy {
	case "":
		return ""
	case byGuard:
		return " by the guard"
	}
	return " by a " + r.EndedBy
}

// lines prints a line, or with --json the document, for each change.
func (a *app) lines() func(view, string) {
	last, lastNote := "", ""
	return func(v view, note string) {
		text := v.line()
		if a.json {
			text = string(v.document)
		}
		if text != last && text != "" {
			if last = text; !a.json {
				text = time.Now().Format("15:04:05") + " " + text
			}
			fmt.Fprintln(a.Out, text)
		}
		if note != lastNote {
			if lastNote = note; note != "" {
				fmt.Fprintln(a.Err, "wavegate: "+note)
			}
		}
	}
}

// redraws draws the view in the place of the last one.
func (a *app) redraws(name string, c *api.Client) func(view, string) {
	drawn, p := 0, a.paint()
	return func(v view, note string) {
		text := v.block(p) + a.ready(c) + "H H halt   q quit   promote: wavegate promote " + name + "\n"
		if note != "" {
			text += p.bad + printable(note) + p.end + "\n"
		}
		if drawn > 0 {
			fmt.Fprintf(a.Out, "\x1b[%dA\x1b[J", drawn)
		}
		drawn = strings.Count(text, "\n")
		fmt.Fprint(a.Out, strings.ReplaceAll(text, "\n", "\r\n")) // the terminal is raw
	}
}

// ready says until when the person can halt without signing in again.
func (a *app) ready(c *api.Client) string {
	raw, err := c.Token(context.Background(), false)
	who, ok := claims(raw)
	if err != nil || !ok || !slices.Contains(who.Roles, "platform_owner") {
		return "not ready to halt: sign in as a platform owner\n"
	}
	until := time.Unix(who.Expires, 0)
	if name, _, err := a.Files.Profile(a.profile); err == nil && a.Getenv("WAVEGATE_TOKEN") == "" {
		if s, err := a.Files.Session(name); err == nil {
			until = s.Ends()
		}
	}
	return "ready to halt: " + printable(who.Subject) + " until " + clock(until) + "\n"
}

// keys reads the keys that are pressed.
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
