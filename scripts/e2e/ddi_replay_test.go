package e2e

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// A move of a recorded run is a request of the client, or an action of somebody else. {token} is replaced by the
// box's token, and {action} by the number of the action that the client was told last.
type move struct {
	Did    string            `json:"did,omitempty"`
	Method string            `json:"method,omitempty"`
	Path   string            `json:"path,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body,omitempty"`
	Status int               `json:"status,omitempty"` // of the answer
	Link   string            `json:"link,omitempty"`   // the one in the answer to a poll
}

// TestDDI_RecordedRunsOfClients_AreFollowed: recorded requests of clients that the tests cannot run, because no
// package registry has them. The test fails if the client would not have sent a request after the service's present
// answers. Each run goes to the API of one service and through the door of another, whose answers have the same bytes.
func TestDDI_RecordedRunsOfClients_AreFollowed(t *testing.T) {
	for run, is := range map[string]func(known census.Why) bool{
		"good": func(known census.Why) bool {
			return at(known, "1.1.0", report.Installed) && known.Report.Attempts == 0 && known.Report.Code == ""
		},
		"bad-checksum": func(known census.Why) bool { return failed(known, report.CodeChecksum) },
		"does-not-boot": func(known census.Why) bool {
			return at(known, "1.1.0", report.Reverted) && known.Report.Code == report.CodeBoot
		},
		"halted": func(known census.Why) bool {
			return known.Report.Cancelled || known.Written == "1.1.0" // by a client that does not stop
		},
		"token-taken-back": func(known census.Why) bool { return known.Report == nil && known.Running == "1.0.0" },
	} {
		files, err := filepath.Glob("testdata/recorded/*/" + run + ".jsonl")
		expect.Must(t, err == nil && len(files) != 0, "no run is recorded: %s (%v)", run, err)
		for _, file := range files {
			t.Run(filepath.Base(filepath.Dir(file))+"/"+run, func(t *testing.T) {
				api, door := harness.New(t, swift, harness.WithDoor(), func(o *service.Options) { o.DDIRoot = true }), harness.New(t, swift, harness.WithDoor())
				r, through := newReplay(t, api, api.Target.URL), newReplay(t, door, door.DoorURL)
				for _, s := range recorded(t, file) {
					was := r.take(t, s)
					if s.Did == boots {
						continue // it was the same time for both
					}
					if got := through.take(t, s); was != nil {
						expect.Equal(t, alike(door, *got), alike(api, *was), "%s %s at the door", s.Method, s.Path)
					}
				}
				for _, box := range []*replay{r, through} {
					known := why(t, box.owner, box.id)
					expect.That(t, is(known), "known as %+v, its report as %+v", known, known.Report)
				}
			})
		}
	}
}

// swift makes boxes poll every second, and allows policies with seconds.
func swift(o *service.Options) {
	withSettings(setting.PollIntervalSeconds.Assign(1), setting.IdlePollIntervalSeconds.Assign(1),
		setting.ChannelCacheSeconds.Assign(0), setting.GuardIntervalSeconds.Assign(1))(o)
}

func failed(known census.Why, code report.FailureCode) bool {
	return at(known, "1.1.0", report.Failed) && known.Report.Code == code
}

func recorded(t *testing.T, file string) (moves []move) {
	t.Helper()
	f := expect.Value(os.Open(file))(t)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var s move
		expect.OK(t, json.Unmarshal(lines.Bytes(), &s))
		moves = append(moves, s)
	}
	return moves
}

// A replay is a box that repeats a client's requests.
type replay struct {
	place           string // the URL that the client calls
	owner           *harness.Caller
	id, token       string
	rollout, action string
}

func newReplay(t *testing.T, w *harness.World, place string) *replay {
	r := &replay{place: place, owner: w.Owner(t)}
	r.owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	r.id, _ = boxesOf("1.1.0", 1)
	r.token = enrol(t, r.owner, r.id)
	return r
}

// boots is a move of recorded runs.
const boots = "the policy's time to boot passes, and the client starts"

// take takes a move. It returns the answer if the move is a request.
func (r *replay) take(t *testing.T, s move) *harness.Answer {
	t.Helper()
	switch s.Did {
	case "":
		return r.send(t, s)
	case "the client starts":
	case boots:
		time.Sleep(2500 * time.Millisecond)
	case "the owner publishes 1.1.0 and starts its rollout":
		const more = `,"md5":"0123456789abcdef0123456789abcdef","artifactHttpUrl":"http://mirror.plant.example/1.1.0"}`
		r.owner.Put(t, channelPath("gateway-x", "canary"), strings.TrimSuffix(described("1.1.0", digest("b")), "}")+more).
			Is(t, http.StatusCreated)
		r.rollout = r.owner.Post(t, rollouts, judged(brief)).Made(t)
	case "the owner halts the rollout":
		r.owner.Patch(t, r.rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
	case "the owner takes the token back":
		r.owner.Do(t, http.MethodDelete, "/api/edges/"+r.id+"/token", "").Is(t, http.StatusNoContent)
	default:
		t.Fatalf("nobody knows how to do it: %s", s.Did)
	}
	return nil
}

var actionIn = regexp.MustCompile(`/(?:deploymentBase|cancelAction)/([0-9]+)`)

// send sends a request of the client. After a poll, it keeps the action that the client is told.
func (r *replay) send(t *testing.T, s move) *harness.Answer {
	t.Helper()
	if r.action == "" && strings.Contains(s.Path+s.Body, "{action}") {
		t.Fatalf("the client would not send %s %s: it has no action", s.Method, s.Path)
	}
	fill := strings.NewReplacer("{token}", r.token, "{action}", r.action)
	header := []string{}
	for name, value := range s.Header {
		header = append(header, name, fill.Replace(value))
	}
	a := ask(t, s.Method, r.place+fill.Replace(s.Path), fill.Replace(s.Body), header...)
	expect.Must(t, a.Status == s.Status,
		"%s %s %s is answered with %d %s, and was with %d", s.Method, s.Path, s.Body, a.Status, a.Body, s.Status)
	if !strings.HasSuffix(strings.TrimSuffix(s.Path, "/"), "/controller/v1/"+r.id) || a.Status != http.StatusOK {
		return &a
	}
	var polled struct {
		Links map[string]struct{ Href string } `json:"_links"`
	}
	expect.OK(t, json.Unmarshal(a.Body, &polled))
	var name string
	for link, to := range polled.Links {
		name = link
		if found := actionIn.FindStringSubmatch(to.Href); found != nil {
			r.action = found[1]
		}
	}
	expect.Must(t, name == s.Link, "the client is linked to %q, and was to %q", name, s.Link)
	return &a
}
