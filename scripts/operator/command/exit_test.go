package command_test

import (
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wavegate/scripts/operator/run"
)

// TestExit_EachCodeOfTheHelp_IsWhatItSays, and there are no others.
func TestExit_EachCodeOfTheHelp_IsWhatItSays(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	d.does("freeze", "--for", "1h", "--reason", "holidays", "--yes").is(run.Done)
	viewer, lost := d.as("vera", "--role", "platform_viewer"), d.at(t)
	lost.seen = func(*http.Request) error { return io.ErrUnexpectedEOF }
	got := map[int]bool{}
	for name, c := range map[string]struct {
		desk  *desk
		args  []string
		code  int
		warns string
	}{
		"done":                      {d, []string{"status"}, 0, ""},
		"already so":                {d, []string{"halt", "gateway-x/canary"}, 0, ""},
		"refused":                   {d, []string{"promote", "gateway-x/stable", "--yes"}, 1, ""},
		"not there":                 {d, []string{"status", "gateway-x/nowhere"}, 1, "NOT_FOUND"},
		"no such flag":              {d, []string{"status", "--nope"}, 2, ""},
		"no channel":                {d, []string{"halt", "gateway-x"}, 2, ""},
		"not confirmed":             {d, []string{"complete", "gateway-x/stable"}, 2, ""},
		"the timeout is over":       {d, []string{"wait", "gateway-x/stable", "--timeout", "3s"}, 6, "the rollout is at 1 % and active"},
		"nothing read in time":      {d, []string{"wait", "gateway-x/stable", "--timeout", "1ms"}, 5, "could not be read"},
		"nobody is there to wait":   {lost, []string{"wait", "gateway-x/stable", "--timeout", "1s"}, 5, ""},
		"no such command":           {d, []string{"steer"}, 2, ""},
		"no argument":               {d, []string{"promote"}, 2, ""},
		"neither channel nor all":   {d, []string{"halt"}, 2, ""},
		"both channel and all":      {d, []string{"halt", "a/b", "--all"}, 2, ""},
		"no such stage":             {d, []string{"wait", "a/b", "--until", "soon"}, 2, ""},
		"nothing to publish":        {d, []string{"publish", "a/b"}, 2, ""},
		"no address of a service":   {d, []string{"login", "http://elsewhere.example"}, 2, ""},
		"two ways":                  {d, []string{"boxes", "a/b", "--state", "failed", "--prefix", "b"}, 2, ""},
		"nobody is signed in":       {d.nobody(), []string{"status"}, 4, "wavegate login"},
		"the role does not allow":   {viewer, []string{"halt", "gateway-x/stable"}, 4, "a platform_viewer sees everything"},
		"the service is not there":  {lost, []string{"status"}, 5, io.ErrUnexpectedEOF.Error()},
		"the outcome is not known":  {lost, []string{"approve", "gateway-x/stable", "--yes"}, 5, ""},
		"a token that nobody takes": {d.with("WAVEGATE_TOKEN", "x", "WAVEGATE_URL", d.Target.URL), []string{"status"}, 4, "WAVEGATE_TOKEN"},
	} {
		t.Run(name, func(t *testing.T) { c.desk.at(t).does(c.args...).is(c.code).warns(c.warns) })
		got[c.code] = true
	}
	d.does("halt", "gateway-x/stable").is(run.Done)
	d.does("watch", "gateway-x/stable").is(run.Otherwise)
	d.does("wait", "gateway-x/stable").is(run.Otherwise)
	got[run.Otherwise], got[run.Interrupted] = true, true // see TestWatch_Interrupted
	_, text, _ := strings.Cut(d.does("help").is(run.Done).out, "Exit codes:")
	text, _, _ = strings.Cut(text, "\n\n")
	var said []int
	for _, code := range regexp.MustCompile(`\d+`).FindAllString(text, -1) {
		n, _ := strconv.Atoi(code) // only digits
		said = append(said, n)
	}
	if want := slices.Sorted(maps.Keys(got)); !slices.Equal(said, want) {
		t.Errorf("the help says %v, and %v are the codes", said, want)
	}
}

// TestQuestion_NamesTheService_ThePerson_AndWhatChanges covers every question.
func TestQuestion_NamesTheService_ThePerson_AndWhatChanges(t *testing.T) {
	d := newDesk(t)
	d.starts(2)
	at := "At " + d.Target.URL + " as olga: "
	asks := func(what string, args ...string) {
		t.Helper()
		d.does(args...).is(run.Misused).warns("wavegate: " + at + what)
	}
	asks("gateway-x/stable: promote 1.1.0 from 1 to 10 %", "promote", "gateway-x/stable")
	asks("gateway-x/stable: approve 10 % of 1.1.0", "approve", "gateway-x/stable")
	asks("gateway-x/stable: end the rollout of 1.1.0 at 1 %?", "complete", "gateway-x/stable")
	asks("gateway-x/canary: start a rollout of 1.0.0 instead of 1.1.0", "start", "gateway-x/canary", "1.0.0")
	asks("gateway-x/stable: publish 1.2.0 instead of 1.0.0", publishing("gateway-x/stable", "1.2.0")...)
	asks("Freeze all channels until", "freeze", "--for", "1h", "--reason", "holidays")
	asks("End the freeze of all channels", "unfreeze")
	asks("Retire box-0001 of acme", "retire", "box-0001")
	d.does("halt", "gateway-x/stable").is(run.Done)
	asks("gateway-x/stable: resume the rollout of 1.1.0 at 1 %?", "resume", "gateway-x/stable")
	d.asks, d.typed = true, strings.NewReader("n\n")
	d.does("resume", "gateway-x/stable").is(run.Misused).warns(at+"gateway-x/stable: resume the rollout", "[y/N]")
}
