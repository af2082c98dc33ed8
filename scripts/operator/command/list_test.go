package command_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

// A page is the document that a command prints for a list.
type page struct {
	Items []struct {
		EdgeID    string
		EventName string
		EventTime time.Time
	}
	More bool
	Next string
}

// lists reads the one document that a run has printed, and fails if it has printed anything else.
func (r result) lists() (p page) {
	r.Helper()
	if r.into(&p); p.Items == nil {
		r.Fatalf("wavegate %q does not print a list:\n%s", r.args, r.out)
	}
	return p
}

// TestList_Limit_IsKept_AlsoAcrossPages: next is behind the last item, and misses and repeats nothing.
func TestList_Limit_IsKept_AlsoAcrossPages(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.does("register", d.file("boxes.csv", csv(105)), "--yes").is(run.Done)
	for limit, want := range map[string]int{"3": 3, "100": 100, "103": 103, "105": 105, "500": 105, "0": 105} {
		p := d.does("boxes", "gateway-x/stable", "--limit", limit, "--json").is(run.Done).lists()
		expect.Equal(t, len(p.Items), want, "boxes of --limit %s:", limit)
		expect.Equal(t, p.More, want < 105, "--limit %s leaves out some:", limit)
		expect.Equal(t, p.Next != "", p.More, "--limit %s goes on at %q:", limit, p.Next)
		r := d.does("boxes", "gateway-x/stable", "--limit", limit).is(run.Done)
		expect.Equal(t, strings.Count(r.out, "box-"), want, "boxes that --limit %s prints:", limit)
		expect.Equal(t, strings.Contains(r.err, "there are more; --limit 0 for all"), want < 105, "--limit %s says %q:", limit, r.err)
	}
	d.does("boxes", "gateway-x/stable", "--limit", "-1").is(run.Misused)

	p := d.does("boxes", "gateway-x/stable", "--limit", "103", "--json").is(run.Done).lists()
	seen := map[string]bool{}
	for _, box := range p.Items {
		seen[box.EdgeID] = true
	}
	rest := d.Owner(t).Get(t, p.Next).Is(t, http.StatusOK).Object(t)["items"].([]any)
	for _, box := range rest {
		seen[box.(map[string]any)["edgeId"].(string)] = true
	}
	expect.Equal(t, []int{len(rest), len(seen)}, []int{2, 105}, "the boxes that follow, and all:")
}

// TestBoxes_ByWhatTheyAre_OnAChannelAndAnywhere: waiting ones, pinned ones, and words for states that are not of the list.
func TestBoxes_ByWhatTheyAre_OnAChannelAndAnywhere(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.does("register", d.file("boxes.csv", csv(3)), "--yes").is(run.Done)
	d.does("factories", "set", "munich-1", "--organization", "acme", "--name", "Munich", "--yes").is(run.Done)
	d.does("factories", "pause", "munich-1", "--days", "3", "--reason", "stocktaking", "--yes").is(run.Done)
	for _, id := range []string{"box-0001", "box-0002"} {
		d.does("box", "set", id, "--channel", "gateway-x/stable", "--organization", "acme", "--factory", "munich-1", "--yes").is(run.Done)
		d.Box(t, id).Get(t, "/api/edges/"+id+"/update/manifest?installed=0.9.0").Is(t, http.StatusOK)
	}
	for _, args := range [][]string{{"--state", "waiting"}, {"gateway-x/stable", "--state", "waiting"}, {"--factory", "munich-1", "--state", "waiting"}} {
		expect.Equal(t, strings.Count(d.does(append([]string{"boxes"}, args...)...).is(run.Done).out, "waits for its pause until 20"), 2, "%q lists", args)
	}
	d.does("factories", "opt-out", "munich-1", "--of", "all", "--reason", "certified", "--yes").is(run.Done)
	d.does("boxes", "--state", "waiting").is(run.Done).says("waits for the end of an opt-out")
	d.does("why", "box-0001").says("its plant munich-1 takes no updates until somebody ends that, as olga said")
	d.does("factories", "opt-out", "--of", "all", "--reason", "certified").is(run.Misused)
	d.does("pin", "box-0003", "1.0.0", "--reason", "a test", "--yes").is(run.Done).says("box-0003 is pinned to 1.0.0 until 20")
	expect.Equal(t, len(d.does("boxes", "--pinned", "--json").is(run.Done).lists().Items), 1, "pinned boxes:")
	d.does("log", "box-0003").is(run.Done).says("EdgeReassigned pinned to 1.0.0").says("a test")
	d.does("unpin", "box-0003", "--yes").is(run.Done).says("box-0003 follows its channel again")
	d.does("log", "box-0003").is(run.Done).says("EdgeReassigned unpinned")
	d.does("boxes", "--state", "silent").is(run.Misused).warns("give its CHANNEL, too")
	d.does("boxes", "--state", "slient").is(run.Misused).warns("--state is one of deferred,")
	d.does("boxes", "--attribute", "board").is(run.Misused).warns("such as board=C")
	d.does("log", "--since", "yesterday").is(run.Misused).warns(`--since is how long, such as 90s, 30m or 48h, and not "yesterday"`)
}

func TestList_Empty_SaysSo(t *testing.T) {
	d := newDesk(t)
	d.does("status").is(run.Done).says("there is no channel yet")
	d.publishes()
	d.does("boxes", "gateway-x/stable").is(run.Done).warns("no box is on gateway-x/stable")
	d.does("boxes", "gateway-x/nowhere").is(run.Refused).warns("there is no channel gateway-x/nowhere")
	d.does("boxes", "gateway-x/stable", "--prefix", "z").is(run.Done).warns("there is no such box")
	d.does("register", d.file("boxes.csv", csv(1)), "--yes").is(run.Done)
	d.does("log", "box-0001", "--actor", "nobody").is(run.Done).warns("no such event of box-0001")
	d.does("log", "box-0002").is(run.Refused).warns("there is no box box-0002")
	d.does("log", "gateway-x/nowhere").is(run.Refused).warns("there is no channel gateway-x/nowhere")
	d.does("enrol", "list").is(run.Done).warns("there are no enrolments")
	if p := d.does("boxes", "gateway-x/canary", "--json").is(run.Done).lists(); len(p.Items) != 0 || p.More {
		t.Errorf("it prints %v", p)
	}
}

func TestLog_OfAChannel_IsOneDocument_NewestFirst(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	d.does("halt", "gateway-x/stable").is(run.Done)
	d.does("start", "gateway-x/stable", "1.1.0", "--no-guard", "--yes").is(run.Done)
	d.does("halt", "gateway-x/stable").is(run.Done)
	const all = "RolloutHalted RolloutStarted RolloutHalted RolloutStarted ReleasePublished"
	for limit, want := range map[string]string{"1": "RolloutHalted", "2": "RolloutHalted RolloutStarted", "0": all, "50": all} {
		p := d.does("log", "gateway-x/stable", "--limit", limit, "--json").is(run.Done).lists()
		var names []string
		for i, e := range p.Items {
			names = append(names, e.EventName)
			if i > 0 && e.EventTime.After(p.Items[i-1].EventTime) {
				t.Errorf("--limit %s is not sorted: %v", limit, p.Items)
			}
		}
		expect.Equal(t, strings.Join(names, " "), want, "--limit %s gives", limit)
		expect.Equal(t, p.More, len(names) < 5, "--limit %s leaves out some:", limit)
		d.does("log", "gateway-x/stable", "--limit", limit).is(run.Done)
	}
}
