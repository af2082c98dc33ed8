package guard_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/testing/expect"
)

func TestParse_AnEmptyObjectIsTheDefault(t *testing.T) {
	p, faults := guard.Parse([]byte(`{}`), time.Minute)
	expect.That(t, len(faults) == 0 && reflect.DeepEqual(p, guard.Default()), "read %+v, faults %v", p, faults)
	if p, faults = guard.Parse([]byte(`{"guard":{},"promote":{"soak":{},"windows":[]},"approvals":{"before":[]}}`), time.Minute); len(faults) > 0 || !reflect.DeepEqual(p, guard.Default()) {
		t.Errorf("empty parts: read %+v, faults %v", p, faults)
	}
}

func TestParse_ReadsEveryField(t *testing.T) {
	const text = `{"mode":"act",
		"guard":{"acceptable":0.02,"intolerable":0.1,"silentAfter":"PT45M","decideWithin":"P1DT12H","taken":0.95,"smallFleet":"people"},
		"promote":{"auto":false,"soak":{"1":"PT0S","10":"PT90S","50":"P7D","100":"P30D"},
			"windows":[{"days":["mon","fri"],"from":"22:00","to":"04:30","timeZone":"Europe/Berlin"},{"from":"00:00","to":"24:00","timeZone":"UTC"}]},
		"approvals":{"before":[100,10]}}`
	want := guard.Policy{
		Mode: guard.Act,
		Guard: guard.Bounds{Acceptable: 0.02, Intolerable: 0.1, SilentAfter: guard.Lasting(45 * time.Minute),
			DecideWithin: guard.Lasting(36 * time.Hour), Taken: 0.95, SmallFleet: guard.People},
		Promote: guard.Promotion{
			Soak: guard.Soak{At1: "PT0S", At10: guard.Lasting(90 * time.Second), At50: guard.Lasting(7 * 24 * time.Hour), At100: guard.Lasting(30 * 24 * time.Hour)},
			Windows: calendar.Windows{
				{Days: []string{"mon", "fri"}, From: "22:00", To: "04:30", TimeZone: "Europe/Berlin"},
				{Days: calendar.Days, From: "00:00", To: "24:00", TimeZone: "UTC"},
			}},
		Approvals: guard.Approvals{Before: []int{10, 100}},
	}
	p, faults := guard.Parse([]byte(text), time.Minute)
	expect.Must(t, len(faults) == 0 && reflect.DeepEqual(p, want), "read %+v\nwant %+v\nfaults %v", p, want, faults)
	again, faults := guard.Parse(p.JSON(), time.Minute)
	if len(faults) > 0 || !reflect.DeepEqual(again, p) {
		t.Errorf("as JSON %s, read %+v, faults %v", p.JSON(), again, faults)
	}
}

func TestParse_TellsEveryFaultWithItsPlace(t *testing.T) {
	for text, want := range map[string][]string{
		`[]`:  {" type"},
		`{`:   {" format"},
		`nul`: {" format"},
		`{"mode":"on","guard":{"acceptable":1,"intolerable":"5","silentAfter":"10m","decideWithin":"PT59S","taken":80,"smallFleet":"all","more":1},
		  "promote":{"auto":"yes","soak":{"1":"P31D","2":"PT1H","10":"P","50":"PT","100":""},
		    "windows":[{"days":["mon","monday","mon"],"from":"24:00","to":"24:01","timeZone":"Berlin"},{"from":"10:00","to":"10:00","timeZone":"Local"},{"days":[]},7]},
		  "approvals":{"before":["10",50,50.0]},"extra":null}`: {
			"/mode format", "/guard/acceptable range", "/guard/intolerable type", "/guard/silentAfter format", "/guard/decideWithin format", "/guard/taken range",
			"/guard/smallFleet format", "/guard/more unknown", "/promote/auto type", "/promote/soak/1 format", "/promote/soak/10 format",
			"/promote/soak/50 format", "/promote/soak/100 format", "/promote/soak/2 unknown", "/promote/windows/0/days/1 format", "/promote/windows/0/days/2 duplicate",
			"/promote/windows/0/from format", "/promote/windows/0/to format", "/promote/windows/0/timeZone format", "/promote/windows/1/timeZone format",
			"/promote/windows/1/to range", "/promote/windows/2/days length", "/promote/windows/2/from required", "/promote/windows/2/to required",
			"/promote/windows/2/timeZone required", "/promote/windows/3 type", "/approvals/before/0 type", "/approvals/before/2 duplicate",
			"/extra unknown"},
		`{"guard":{"acceptable":0.03}}`:                      {"/guard/intolerable range"},
		`{"guard":{"acceptable":0.1,"intolerable":0.19}}`:    {"/guard/intolerable range"},
		`{"guard":{"acceptable":0.001,"intolerable":0.006}}`: {"/guard/intolerable range"},
		`{"guard":{"acceptable":0.0009,"intolerable":0.6}}`:  {"/guard/acceptable range", "/guard/intolerable range"},
		`{"mode":null,"guard":null,"promote":[],"approvals":{"before":{}}}`: {
			"/mode type", "/guard type", "/promote type", "/approvals/before type"},
		`{"approvals":{"before":[10,50,100,10]}}`: {"/approvals/before length"},
	} {
		_, faults := guard.Parse([]byte(text), time.Minute)
		var got []string
		for _, f := range faults {
			got = append(got, f.Pointer+" "+f.Code)
		}
		expect.That(t, slices.Equal(got, want), "%.60s: got %q\nwant %q", text, got, want)
	}
}

func TestParse_AtMost20Windows(t *testing.T) {
	const one = `{"from":"10:00","to":"11:00","timeZone":"UTC"}`
	for n, want := range map[int]int{20: 0, 21: 1} {
		_, faults := guard.Parse([]byte(`{"promote":{"windows":[`+strings.Repeat(one+",", n-1)+one+`]}}`), time.Minute)
		if len(faults) != want || want > 0 && faults[0].Pointer+faults[0].Code != "/promote/windowslength" {
			t.Errorf("%d windows: faults %v", n, faults)
		}
	}
}

func TestApprovals_AreForTheStagesThatARolloutCanBeRaisedTo(t *testing.T) {
	for _, stage := range cohort.Stages {
		_, faults := guard.Parse(fmt.Appendf(nil, `{"approvals":{"before":[%d]}}`, stage), time.Minute)
		expect.That(t, (len(faults) == 0) == (stage != cohort.Stages[0]), "stage %d: faults %v", stage, faults)
	}
}

func TestSoakAt_IsAtLeastAsLongAsBoxesMayTake_AndUntilTheyCanBeSilent(t *testing.T) {
	for silentAfter, at10 := range map[guard.Duration]time.Duration{"PT30M": time.Hour, "PT90M": 90 * time.Minute} {
		p := guard.Default()
		p.Promote.Soak.At10, p.Guard.SilentAfter = "PT0S", silentAfter
		want := map[int]time.Duration{1: 24 * time.Hour, 10: at10, 50: 24 * time.Hour, 100: 24 * time.Hour}
		for _, stage := range cohort.Stages {
			expect.Equal(t, p.SoakAt(stage), want[stage], "silent after %s: stage %d soaks for", silentAfter, stage)
		}
	}
}

// TestParse_SharesThatASampleCanTellApart: with any valid policy, a stage that is too small for the test has so few
// boxes that the sample holds them all.
func TestParse_SharesThatASampleCanTellApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := func(label string) float64 { return float64(rapid.IntRange(1, 500).Draw(t, label)) / 1000 }
		acceptable, intolerable := share("acceptable"), share("intolerable")
		_, faults := guard.Parse(fmt.Appendf(nil, `{"guard":{"acceptable":%g,"intolerable":%g}}`, acceptable, intolerable), time.Minute)
		wrong := intolerable < 2*acceptable || intolerable < acceptable+0.0059
		expect.Must(t, wrong == (len(faults) > 0), "%g and %g: faults %v", acceptable, intolerable, faults)
		if len(faults) > 0 {
			return
		}
		n := guard.NewWald(acceptable, intolerable).Needs()
		expect.Must(t, n <= 500, "%g and %g: a stage needs %d boxes", acceptable, intolerable, n)
	})
}

func TestDuration_IsWrittenAsItIsRead(t *testing.T) {
	for text, want := range map[string]string{"PT0S": "PT0S", "P1D": "P1D", "PT24H": "P1D", "PT90M": "PT1H30M", "P1DT1S": "P1DT1S", "PT3600S": "PT1H", "PT01H": "PT1H"} {
		p, faults := guard.Parse([]byte(`{"promote":{"soak":{"1":"`+text+`"}}}`), time.Minute)
		if got := p.Promote.Soak.At1; len(faults) > 0 || string(got) != want {
			t.Errorf("%s is written %s, want %s; faults %v", text, got, want, faults)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := guard.Default()
		p.Promote.Soak.At50 = guard.Lasting(time.Duration(rapid.Int64Range(0, int64(guard.Longest)/1e9).Draw(t, "seconds")) * time.Second)
		if again, faults := guard.Parse(p.JSON(), time.Minute); len(faults) > 0 || !reflect.DeepEqual(again, p) {
			t.Fatalf("%s: faults %v", p.JSON(), faults)
		}
	})
}

// FuzzParse checks that any valid policy can be written, read again and used for a decision.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add(guard.Default().JSON())
	f.Add([]byte(`{"guard":{"acceptable":0.001,"intolerable":0.5,"smallFleet":"people"},"promote":{"soak":{"1":"P1DT1H1M1S"},"windows":[{"days":["sun"],"from":"02:30","to":"02:00","timeZone":"America/New_York"}]},"approvals":{"before":[1e1]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, faults := guard.Parse(text, time.Minute)
		if len(faults) > 0 {
			for _, fault := range faults {
				expect.Must(t, fault.Code != "" && fault.Detail != "", "a fault says nothing: %+v", fault)
			}
			return
		}
		again, faults := guard.Parse(p.JSON(), time.Minute)
		if len(faults) > 0 || !reflect.DeepEqual(again, p) {
			t.Fatalf("%s is read again as %s, faults %v", p.JSON(), again.JSON(), faults)
		}
		v := guard.Decide(p, healthy(10), now)
		expect.Must(t, v.Sentence != "" && len(v.Reasons) != 0, "decides nothing: %+v", v)
	})
}
