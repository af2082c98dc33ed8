package proof

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/infra/recovery/ledger"
	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// A yard has the boxes of one round, on a channel of their own. All run its version, 1.0.0; the next ones are 1.1.0 and 2.0.0,
// which requires it.
type yard struct {
	*testing.T
	w       *harness.World
	owner   *harness.Caller
	channel string
}

// acts are what people do at the same time. Each asks at once for a box that it decides about.
var acts = map[string]func(y yard){
	"pin": func(y yard) {
		if y.put("pinned later", `,"pin":{"version":"1.0.0","reason":"a race"}`) {
			y.told("a box after its pin", y.poll("pinned later"), "1.0.0")
		}
	},
	"publish": func(y yard) { y.does(http.MethodPut, linePath(y.channel), `{"currentVersion":"2.0.0"}`) },
	"start":   func(y yard) { y.rollout() },
	"return": func(y yard) {
		if at := y.rollout(); at != "" {
			y.does(http.MethodPatch, at, `{"status":"halted","return":true}`)
		}
	},
	"close": func(y yard) {
		if y.does(http.MethodPut, "/api/factories/works-"+y.channel, plant(closed())) {
			y.told("a box of a plant after its closing", y.poll("to be closed"), "1.0.0")
		}
	},
	"join": func(y yard) { y.put("third", y.pair()) },
	"retire": func(y yard) {
		if y.does(http.MethodDelete, "/api/edges/"+y.id("retired"), "") {
			expect.Equal(y.T, y.poll("retired"), "404", "a retired box is told")
		}
	},
	"take over": func(y yard) {
		if y.does(http.MethodPost, "/api/edges", `{"takeOver":true,"edges":[`+y.box("rival's", "acme", "")+`]}`) {
			y.told("a box that was taken over, whose pin ends", y.poll("rival's"), "1.0.0", "1.1.0")
		}
	},
}

// TestRaces_OfAnyTwoMoves_KeepEachBoxSafe: whoever wins, no pinned box is told otherwise, one box of a group at most is told
// something new, nobody in a closed plant is, and nobody passes over a required release.
func TestRaces_OfAnyTwoMoves_KeepEachBoxSafe(t *testing.T) {
	expect.Full(t)
	names, rounds := []string{"close", "join", "pin", "publish", "retire", "return", "start", "take over"}, count(t, "PROOF_RACES", 2, 200)
	expect.Equal(t, len(names), len(acts), "the moves are listed")
	for i, one := range names {
		for _, two := range names[i:] {
			t.Run(one+" and "+two, func(t *testing.T) {
				w := withLine(t) // of its own, since an organization's boxes are counted now and then
				for n := range rounds {
					owner := w.As(t, fmt.Sprintf("olga-%d", n), fmt.Sprintf("wavegate-%d", n), auth.PlatformOwner) // limits are of a minute
					yard{t, w, owner, fmt.Sprintf("yard-%d", n)}.race(acts[one], acts[two])
				}
				books := expect.Value(ledger.Read(t.Context(), w.DB, dynamolocal.TableName))(t)
				expect.Equal(t, len(books.Audit()), 0, "%v: the audit of the tables finds", books.Audit())
			})
		}
	}
}

// withLine is a world with the three releases and two plants.
func withLine(t *testing.T) *harness.World {
	t.Helper()
	w := harness.New(t, freshPolls)
	owner := w.Owner(t)
	for version, more := range map[string]string{"1.0.0": `"order":1`, "1.1.0": `"order":2`} {
		owner.Put(t, linePath("line-"+version[2:3]), published(version, more)).Is(t, http.StatusCreated)
	}
	owner.Put(t, linePath("line-2"), published("2.0.0", `"order":3,"requires":"1.1.0"`)).Is(t, http.StatusCreated)
	owner.Put(t, "/api/factories/closed", plant(closed())).Is(t, http.StatusCreated)
	owner.Put(t, "/api/factories/pairs", plant(`{}`)).Is(t, http.StatusCreated)
	return w
}

// race opens the yard, and makes two moves while its boxes poll.
func (y yard) race(one, two func(yard)) {
	y.Helper()
	y.owner.Put(y.T, linePath(y.channel), `{"currentVersion":"1.0.0"}`).Is(y.T, http.StatusCreated)
	y.owner.Put(y.T, "/api/factories/works-"+y.channel, plant(`{}`)).Is(y.T, http.StatusCreated)
	pinned := `,"pin":{"version":"1.0.0","reason":"a race"}`
	y.owner.Post(y.T, "/api/edges", `{"edges":[`+strings.Join([]string{
		y.box("pinned", "acme", pinned), y.box("pinned later", "acme", ""), y.box("rival's", "rival", pinned), y.box("plain", "acme", ""), y.box("retired", "acme", ""),
		y.box("first", "acme", y.pair()), y.box("second", "acme", y.pair()), y.box("third", "acme", `,"factoryId":"pairs"`),
		y.box("in a closed plant", "acme", `,"factoryId":"closed"`), y.box("to be closed", "acme", `,"factoryId":"works-`+y.channel+`"`),
	}, ",")+`]}`).Is(y.T, http.StatusOK)
	for _, name := range []string{"first", "second", "third"} { // a box takes part in turns once it has said what it runs
		y.told("a box before the race", y.poll(name), "1.0.0")
	}
	var all sync.WaitGroup
	var group [3]string
	for i, name := range []string{"first", "second"} {
		all.Go(func() { group[i] = y.poll(name) })
	}
	all.Go(func() { one(y) })
	all.Go(func() { two(y) })
	all.Go(y.look)
	all.Wait()
	y.turns(group[:2])
	y.look()
	for i, name := range []string{"first", "second", "third"} {
		group[i] = y.poll(name)
	}
	if y.inGroup("third") {
		y.turns(group[:])
	} else {
		y.turns(group[:2])
	}
}

// look polls as the boxes for which no move changes anything.
func (y yard) look() {
	y.Helper()
	y.told("a pinned box", y.poll("pinned"), "1.0.0")
	y.told("a box of a closed plant", y.poll("in a closed plant"), "1.0.0")
	y.told("a box below a required release", y.poll("plain"), "1.0.0", "1.1.0")
}

// turns checks that at most one box of a group is told something new.
func (y yard) turns(told []string) {
	y.Helper()
	if fresh := slices.DeleteFunc(slices.Clone(told), func(version string) bool { return version == "1.0.0" }); len(fresh) > 1 {
		y.Errorf("%s: the boxes of a group are told %q", y.channel, told)
	}
}

func (y yard) told(who, version string, allowed ...string) {
	y.Helper()
	if !slices.Contains(allowed, version) {
		y.Errorf("%s: %s is told %s, not %q", y.channel, who, version, allowed)
	}
}

// poll is what a box that runs 1.0.0 is told, or the status of a refusal. It polls again if its group changes too often.
func (y yard) poll(name string) string {
	y.Helper()
	a := y.w.Box(y.T, y.id(name)).Get(y.T, "/api/edges/"+y.id(name)+"/update/manifest?installed=1.0.0")
	if a.Status == http.StatusServiceUnavailable {
		return y.poll(name)
	}
	if a.Status != http.StatusOK {
		return fmt.Sprint(a.Status)
	}
	version, _ := a.Object(y.T)["version"].(string)
	return version
}

// rollout starts a rollout to 2.0.0 and raises it to everyone; empty: it was refused.
func (y yard) rollout() string {
	y.Helper()
	a := y.owner.Post(y.T, "/api/ota/rollouts", fmt.Sprintf(`{"edgeType":"gateway-x","channel":%q,"targetVersion":"2.0.0","policy":null}`, y.channel))
	if y.refused(a) {
		return ""
	}
	at := a.Header.Get("Location")
	for _, percent := range []int{10, 50, 100} {
		y.does(http.MethodPatch, at, fmt.Sprintf(`{"staged_percent":%d}`, percent))
	}
	return at
}

// does makes a call, and reports whether it was not refused because of another one.
func (y yard) does(method, path, body string) bool {
	y.Helper()
	a := y.owner.Do(y.T, method, path, body)
	return !(method == http.MethodDelete && a.Status == http.StatusNotFound) && !y.refused(a)
}

func (y yard) refused(a harness.Answer) bool {
	y.Helper()
	if a.Status/100 != 2 && a.Status != http.StatusConflict {
		y.Errorf("%s: answered %d %s", y.channel, a.Status, a.Body)
	}
	return a.Status/100 != 2
}

func (y yard) put(name, more string) bool {
	y.Helper()
	_, body, _ := strings.Cut(y.box(name, "acme", more), ",")
	return y.does(http.MethodPut, "/api/edges/"+y.id(name), "{"+body)
}

func (y yard) inGroup(name string) bool {
	y.Helper()
	group, _ := y.owner.Get(y.T, "/api/edges/"+y.id(name)).Object(y.T)["group"].(string)
	return group != ""
}

func (y yard) id(name string) string {
	return y.channel + "-" + strings.NewReplacer(" ", "-", "'", "").Replace(name)
}

func (y yard) pair() string { return `,"factoryId":"pairs","group":"of ` + y.channel + `"` }

// box is a box's entry in a batch.
func (y yard) box(name, organization, more string) string {
	return fmt.Sprintf(`{"edgeId":%q,"edgeType":"gateway-x","channel":%q,"organizationId":%q%s}`, y.id(name), y.channel, organization, more)
}

func linePath(name string) string { return "/api/ota/release-channels/gateway-x/" + name }

func published(version, more string) string {
	return fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://artifacts.example/%s.tar.gz","sha256":%q,%s}`, version, version,
		strings.Repeat(strings.ReplaceAll(version, ".", ""), 21)+"a", more)
}

func plant(updates string) string {
	return `{"organizationId":"acme","name":"Works","updates":` + updates + `}`
}

// closed are windows on the day after tomorrow, in any time zone.
func closed() string {
	return fmt.Sprintf(`{"timeZone":"Europe/Berlin","windows":[{"days":[%q],"from":"04:00","to":"08:00"}]}`, calendar.Days[time.Now().UTC().AddDate(0, 0, 2).Weekday()])
}
