package command_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// onTerminal runs the command on a terminal of a width.
func (d *desk) onTerminal(columns int, args ...string) result {
	d.Helper()
	return d.changed(d.Context(), func(e *run.Environment) { e.Draws, e.Width = true, func() int { return columns } }, args...)
}

// sentence is the guard's sentence about the rollout.
func (d *desk) sentence() string {
	d.Helper()
	p := d.Owner(d.T).Get(d.T, "/api/ota/rollouts/"+d.rollout()+"/progress").Is(d.T, http.StatusOK).Object(d.T)
	return p["guard"].(map[string]any)["sentence"].(string)
}

// TestStatus_OnATerminal_BreaksNoWord: if it is too narrow for a table, each channel has lines of its own.
func TestStatus_OnATerminal_BreaksNoWord(t *testing.T) {
	d := newJudgedDesk(t)
	d.startsJudged(acting, 5)
	d.guardLooks()
	for columns, want := range map[int]string{
		40:  "gateway-x/stable 1.0.0 → 1.1.0 ",
		80:  "gateway-x/stable 1.0.0 → 1.1.0 ",
		140: "CHANNEL VERSION STAGE SINCE INSTALLED GUARD HEALTH gateway-x/stable 1.0.0 → 1.1.0 1 % ",
	} {
		for _, args := range [][]string{{"status"}, {"status", "gateway-x/stable"}} {
			text := escapes.ReplaceAllString(d.onTerminal(columns, args...).is(run.Done).out, "") // no line may be wider; see changed
			joined := strings.Join(strings.Fields(text), " ")
			expect.That(t, strings.Contains(joined, "gateway-x/stable 1.0.0 → 1.1.0"), "%d columns: %v shows\n%s", columns, args, text)
			if len(args) == 1 {
				expect.That(t, strings.HasPrefix(joined, want), "%d columns: the list is\n%s", columns, text)
			} else {
				expect.That(t, strings.Contains(joined, d.sentence()), "%d columns: it does not say %q:\n%s", columns, d.sentence(), text)
			}
		}
	}
}

func TestStatus_OnATerminal_HasColoursUnlessTheyAreNotWanted(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	d.onTerminal(80, "status", "gateway-x/stable").is(run.Done).says("\x1b[1mgateway-x/stable")
	for _, flag := range []string{"--plain", "--no-color"} {
		d.onTerminal(80, "status", "gateway-x/stable", flag).is(run.Done).not("\x1b")
	}
	d.env["NO_COLOR"] = "1"
	d.onTerminal(80, "status", "gateway-x/stable").is(run.Done).not("\x1b")
}
