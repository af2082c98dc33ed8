package bell

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/testing/expect"
	_ "wavegate/shared/testing/raced" // few cases under the race detector
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	present Secret = "a-secret-of-these-tests-that-is-long-enough"
	before  Secret = "another-secret-of-these-tests-and-long-enough"
)

var name = rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._-]{0,63}`)

func TestAddress_IsReadBackFromItsPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := present.Address(name.Draw(t, "edge type"), name.Draw(t, "channel"))
		if got, ok := ParseAddress(a.Path()); !ok || got != a {
			t.Errorf("%s is read as %+v, %v", a.Path(), got, ok)
		}
	})
}

func TestParseAddress_WhatNoAddressHas_IsRefused(t *testing.T) {
	good := present.Address("gateway-x", "stable").Path()
	for _, path := range []string{"", "/", "/b", "/b/", "/b/gateway-x/stable", "/b/gateway-x/stable/", good + "/", good + "x", good[:len(good)-1], "/" + good,
		"/api" + good, strings.ToUpper(good), strings.Replace(good, "stable", "", 1), strings.Replace(good, "stable", "sta%62le", 1),
		strings.Replace(good, "stable", "../stable", 1), strings.Replace(good, "stable", "stäble", 1)} {
		a, ok := ParseAddress(path)
		expect.That(t, !ok, "%q is read as %+v", path, a)
	}
}

func FuzzParseAddress(f *testing.F) {
	f.Add(present.Address("gateway-x", "stable").Path())
	f.Add("/b/a/b/c")
	f.Add("/b//%2F/\x00")
	f.Fuzz(func(t *testing.T, path string) {
		a, ok := ParseAddress(path)
		if ok && a.Path() != path {
			t.Errorf("%q is read as %+v", path, a)
		}
		if _, made := (Secrets{present, before}).Made(a); made && !ok {
			t.Errorf("%q was made", path)
		}
	})
}

func TestMade_TellsTheSecret_AndRefusesForgedAddresses(t *testing.T) {
	valid := Secrets{present, before}
	for _, s := range valid {
		got, ok := valid.Made(s.Address("gateway-x", "stable"))
		expect.That(t, ok && got == s, "an address made with %q is accepted as one with %q, %v", s, got, ok)
	}
	own := present.Address("gateway-x", "stable")
	for why, a := range map[string]Address{
		"of another channel":   {"gateway-x", "canary", own.Proof},
		"of another type":      {"gateway-y", "stable", own.Proof},
		"parts joined another": present.Address("gateway-xstable", "s"),
		"without a proof":      {"gateway-x", "stable", ""},
		"of a stranger":        Secret("a-secret-that-is-not-valid-any-more-at-all").Address("gateway-x", "stable"),
	} {
		if why == "parts joined another" {
			a.EdgeType, a.Channel = "gateway-x", "stables"
		}
		_, ok := valid.Made(a)
		expect.That(t, !ok, "an address %s is accepted", why)
	}
	_, ok := (Secrets{}).Made(own)
	expect.That(t, !ok, "an address is accepted without a secret")
}

// TestCall_OfAMillionBoxes_Differ: two boxes with the same code would poll on each other's calls.
func TestCall_OfAMillionBoxes_Differ(t *testing.T) {
	seen := make(map[string]int, 1_000_000)
	for i := range 1_000_000 {
		code := present.Call(fmt.Sprintf("box-%07d", i))
		other, ok := seen[code]
		expect.Must(t, !ok && len(code) == 8, "boxes %d and %d have the code %s", i, other, code)
		seen[code] = i
	}
}

// TestCuts_OfOneTextForSeveralPurposes_Differ: knowledge of one must not reveal another.
func TestCuts_OfOneTextForSeveralPurposes_Differ(t *testing.T) {
	seen := map[string]bool{}
	for _, cut := range []string{present.Call("a"), before.Call("a"), present.Address("a", "a").Proof[:8], present.sound("a", 0)[:8], present.cut(setBytes, sets, "a")} {
		expect.That(t, !seen[cut] && regexp.MustCompile(`^[A-Za-z0-9_-]{8}$`).MatchString(cut),
			"%s was cut twice, or cannot be part of a URL", cut)
		seen[cut] = true
	}
}

func answer(row string, r Rings) Response {
	return present.Answer(Scene{Row: row, ChangedAt: noon.Add(-time.Hour), Rings: r}, Pace{time.Minute, 5 * time.Minute}, noon)
}

func TestAnswer_TheSound_ChangesWithTheRowAndWithARingOfTheWhole_AndNotWithCalls(t *testing.T) {
	quiet := answer(`"1"`, Rings{})
	called := answer(`"1"`, Rings{Calls: map[string]int64{"box-1": noon.Unix() + 1}})
	expect.That(t, called.Sound == quiet.Sound && quiet.ETag == `"`+quiet.Sound+`"` && len(quiet.Calls) == 0,
		"quiet %+v, called %+v", quiet, called)
	if !slices.Equal(called.Calls, []string{present.Call("box-1")}) || called.ETag == quiet.ETag || !strings.HasPrefix(called.ETag, `"`+quiet.Sound+".") {
		t.Errorf("called %+v", called)
	}
	if again := answer(`"1"`, Rings{Calls: map[string]int64{"box-1": noon.Unix() + 2}}); again.ETag == called.ETag || again.Sound != called.Sound {
		t.Errorf("called again: %+v, before %+v", again, called)
	}
	over := answer(`"1"`, Rings{Calls: map[string]int64{"box-1": noon.Unix()}})
	expect.That(t, over.ETag == quiet.ETag, "the call is over: %+v", over)
	for why, other := range map[string]Response{"the row": answer(`"2"`, Rings{}), "a ring": answer(`"1"`, Rings{N: 1}), "no row": answer("", Rings{})} {
		expect.That(t, other.Sound != quiet.Sound, "%s does not change the sound", why)
	}
}

func TestAnswer_IsWrittenAsDocumented(t *testing.T) {
	b, err := json.Marshal(answer(`"1"`, Rings{}))
	want := `{"sound":"` + answer(`"1"`, Rings{}).Sound + `","intervalSeconds":300,"calls":[]}`
	expect.That(t, err == nil && string(b) == want, "%s, %v, want %s", b, err, want)
}

func TestPace_IsBusyForAnHourAfterAChange(t *testing.T) {
	p := Pace{time.Minute, 5 * time.Minute}
	for ago, want := range map[time.Duration]time.Duration{-time.Second: time.Minute, 0: time.Minute, time.Hour - 1: time.Minute, time.Hour: 5 * time.Minute, 1000 * time.Hour: 5 * time.Minute} {
		expect.Equal(t, p.At(noon, noon.Add(-ago)), want, "%v after a change", ago)
	}
	got := (Pace{time.Minute, time.Second}).At(noon, noon.Add(-2*time.Hour))
	expect.That(t, got == time.Minute, "idle boxes listen every %v, more often than others", got)
}

// TestRing_AnyCalls_AreHeardOrBounded lets organizations and platform owners ring at any times. A model knows which boxes must
// be called.
func TestRing_AnyCalls_AreHeardOrBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Rings
		now, whole := noon, []time.Time{}
		until := map[string]time.Time{}
		for range rapid.IntRange(1, 12).Draw(t, "rings") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40*60).Draw(t, "seconds")) * time.Second)
			boxes := make([]Call, rapid.SampledFrom([]int{1, 2, 30, 400, 600}).Draw(t, "boxes"))
			first, of, own := rapid.IntRange(0, 1000).Draw(t, "first"), rapid.SampledFrom([]string{"acme", "beta", "gamma"}).Draw(t, "organization"), rapid.Bool().Draw(t, "own")
			for i := range boxes {
				boxes[i] = Call{EdgeID: fmt.Sprintf("%s-%d", of, first+i), Organization: of, Own: own}
			}
			next, changed := r.Ring(boxes, now, 15*time.Minute)
			if changed != (next.Revision == r.Revision+1) || !changed && !maps.Equal(next.Calls, r.Calls) {
				t.Fatalf("changed: %v, revisions %d and %d", changed, r.Revision, next.Revision)
			}
			expect.Must(t, len(next.Calls) <= MostCalls, "%d boxes are called", len(next.Calls))
			held := 0
			for id := range next.Calls {
				if strings.HasPrefix(id, of) {
					held++
				}
			}
			if next.N != r.N {
				if whole = append(whole, now); own || next.N != r.N+1 || len(whole) > 1 && now.Sub(whole[len(whole)-2]) < time.Hour {
					t.Fatalf("the channel rang at %v, to %d, for its own boxes: %v", whole, next.N, own)
				}
				clear(until)
			} else {
				for _, c := range boxes {
					if _, called := next.Calls[c.EdgeID]; called {
						until[c.EdgeID] = now.Add(15 * time.Minute)
					} else if held < MostCalls-len(next.Calls) || !own && (len(whole) == 0 || now.Sub(whole[len(whole)-1]) >= time.Hour) {
						t.Fatalf("%s is not called, and there is room", c.EdgeID)
					}
				}
			}
			for id, end := range until { // nobody is dropped before the time is over
				if _, called := next.Calls[id]; called != end.After(now) && end.After(now) {
					t.Fatalf("%s is no longer called", id)
				}
			}
			r = next
		}
	})
}

// TestRing_OneOrganizationMovesAllItsBoxes_OthersAreCalled: their boxes do not poll for it, and theirs that move are heard at once.
func TestRing_OneOrganizationMovesAllItsBoxes_OthersAreCalled(t *testing.T) {
	var r Rings
	for i := range 40 {
		batch := make([]Call, 14)
		for j := range batch {
			batch[j] = Call{EdgeID: fmt.Sprintf("acme-%d", 14*i+j), Organization: "acme", Own: true}
		}
		r, _ = r.Ring(batch, noon, time.Hour)
	}
	expect.That(t, r.N == 0 && len(r.Calls) == MostCalls/2,
		"the channel rang %d times, and %d boxes are called", r.N, len(r.Calls))
	for _, other := range []string{"beta", "gamma", "delta", "epsilon"} {
		r, _ = r.Ring([]Call{{EdgeID: other, Organization: other, Own: true}}, noon, time.Hour)
		expect.That(t, r.Calls[other] != 0, "the box of %s is not called", other)
	}
}

func TestRing_WhatIsCalledAlready_IsNotWrittenAgainInTheSameSecond(t *testing.T) {
	r, _ := Rings{}.Ring([]Call{{EdgeID: "box-1", Organization: "acme"}}, noon, time.Hour)
	if again, changed := r.Ring([]Call{{EdgeID: "box-1", Organization: "acme"}}, noon.Add(time.Millisecond), time.Hour); changed || again.Revision != 1 {
		t.Errorf("got %+v, %v", again, changed)
	}
	later, changed := r.Ring([]Call{{EdgeID: "box-1", Organization: "acme"}}, noon.Add(time.Second), time.Hour)
	expect.That(t, changed && later.Calls["box-1"] == r.Calls["box-1"]+1, "a second later: %+v, %v", later, changed)
}

func TestLasting_IsHeardByABoxThatMissesTwoTimes(t *testing.T) {
	for interval, want := range map[time.Duration]time.Duration{5 * time.Minute: 17*time.Minute + 30*time.Second, time.Minute: 15 * time.Minute, 10 * time.Minute: 35 * time.Minute} {
		expect.Equal(t, Lasting(interval), want, "every %v", interval)
	}
}

func TestWatched_BeforeTheFirstCount_AreAll_AndFewOfALargeStage(t *testing.T) {
	for stage, sizes := range map[int]Sizes{1: nil, 10: {1: 50}, 50: {50: 1199}, 100: {100: 0}} {
		for i := range 2000 {
			id := fmt.Sprint("box-", i)
			expect.Must(t, sizes.Watched(id, stage), "%s is not watched by %v", id, sizes)
		}
	}
	watched, asked := 0, 0
	for i := range 100_000 {
		sizes, id := Sizes{100: 100_000}, fmt.Sprint("box-", i)
		if sizes.Watched(id, 100) {
			watched++
		}
		if sizes.Asked(id, 100) {
			asked++
		}
	}
	expect.That(t, watched >= 1100 && watched <= 1400 && asked >= 7000 && asked <= 8000,
		"%d boxes of 100,000 are watched, and %d asked", watched, asked)
}

// TestWatched_AsAStageGrows_NobodyJoins also checks that boxes that join or leave rarely change who is watched.
func TestWatched_AsAStageGrows_NobodyJoins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id, size := name.Draw(t, "box"), rapid.IntRange(1, 2_000_000).Draw(t, "size")
		grown := size + rapid.IntRange(0, 1_000_000).Draw(t, "joined")
		for of, is := range map[string]func(s Sizes, edgeID string, percent int) bool{"watched": Sizes.Watched, "asked": Sizes.Asked} {
			if is(Sizes{10: grown}, id, 10) && !is(Sizes{10: size}, id, 10) {
				t.Errorf("%s is %s among %d, but not among %d", id, of, grown, size)
			}
		}
	})
	changes := 0
	for size := 10_000; size < 20_000; size++ {
		if (Sizes{10: size}).Watched("box-1", 10) != (Sizes{10: size + 1}).Watched("box-1", 10) {
			changes++
		}
	}
	expect.That(t, changes <= 1, "while the stage doubled, the flag changed %d times", changes)
}
