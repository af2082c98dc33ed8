package census_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/stats"
	"wavegate/shared/testing/expect"
)

func sightings(n, silent, unknown int, now time.Time) []census.Sighting {
	list := make([]census.Sighting, n)
	for i := range list {
		list[i] = census.Sighting{EdgeID: fmt.Sprintf("box-%04d", i), LastSeen: now.Add(-time.Minute),
			Offer: report.Offer{State: report.Installed, Since: now.Add(-time.Hour)}}
		switch {
		case i < silent:
			list[i].LastSeen = now.Add(-time.Hour)
		case i < silent+unknown:
			list[i].LastSeen = time.Time{}
		}
	}
	return list
}

func TestSilent_AllBoxesLookedAt_IsExact(t *testing.T) {
	s := census.Silent(40, sightings(40, 25, 3, noon), noon, 10*time.Minute)
	expect.That(t, s.Boxes == 25 && s.Low == 25 && s.High == 25 && s.Silent == 25 && s.Unknown == 3 && s.Sampled == 40,
		"got %+v", s)
	expect.That(t, len(s.EdgeIDs) == census.MostSilentNamed && s.EdgeIDs[0] == "box-0000", "it names %v", s.EdgeIDs)
}

func TestSilent_Sampled_IsAnEstimateWithAnInterval(t *testing.T) {
	s := census.Silent(100_000, sightings(1000, 50, 0, noon), noon, 10*time.Minute)
	if s.Boxes != 5000 || s.Low != 3733 && s.Low != 3734 || s.High < 6530 || s.High > 6545 {
		t.Errorf("got %+v", s)
	}
}

func TestSilent_NoBoxes(t *testing.T) {
	s := census.Silent(0, nil, noon, 10*time.Minute)
	expect.That(t, s.Boxes == 0 && s.High == 0, "got %+v", s)
}

// TestSample_IsDrawnAtRandom: if one box in twenty is silent, whatever the boxes' names, the interval contains the true
// number in at least 95 of 100 fleets.
func TestSample_IsDrawnAtRandom(t *testing.T) {
	const fleets, boxes = 100, 5000
	random := rand.New(rand.NewPCG(1, 2))
	held := 0
	for f := range fleets {
		var s, other census.Sample
		silent := map[string]bool{}
		for i := range boxes {
			row := report.Row{EdgeID: fmt.Sprintf("fleet-%d-box-%d", f, i)}
			silent[row.EdgeID] = random.IntN(20) == 0
			if i%2 == 0 {
				s.Add(row.Entry())
			} else {
				other.Add(row.Entry())
			}
		}
		s.Merge(other)
		truth, hits := 0, 0
		for _, is := range silent {
			if is {
				truth++
			}
		}
		chosen := s.Chosen()
		expect.Must(t, s.Boxes == boxes && len(chosen) == census.SampleSize,
			"%d of %d boxes chosen", len(chosen), s.Boxes)
		for _, e := range chosen {
			if silent[e.EdgeID] {
				hits++
			}
		}
		low, high := stats.Interval(hits, len(chosen))
		if float64(truth) >= low*boxes && float64(truth) <= high*boxes {
			held++
		}
	}
	expect.That(t, held >= 95, "the interval contained the true number in %d of %d fleets", held, fleets)
}

func TestSample_SameBoxes_SameChoice(t *testing.T) {
	var forth, back census.Sample
	for i := range 3000 {
		forth.Add(report.Row{EdgeID: fmt.Sprintf("box-%d", i)}.Entry())
		back.Add(report.Row{EdgeID: fmt.Sprintf("box-%d", 2999-i)}.Entry())
	}
	for i, e := range forth.Chosen() {
		if back.Chosen()[i] != e {
			t.Fatalf("the sample depends on the order: %v and %v", e, back.Chosen()[i])
		}
	}
}

func TestSilent_PlantsWithMostBoxesSilent_AreDark(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	sample := sightings(12, 9, 0, now)
	for i, plant := range []string{"a", "a", "a", "b", "b", "b", "b", "c", "c", "b", "b", ""} { // the first nine are silent
		sample[i].FactoryID = plant
	}
	expect.Equal(t, census.Silent(12, sample, now, 10*time.Minute).Dark, []census.DarkPlant{{FactoryID: "a", Of: 3, Silent: 3}}, "four of six of b, and two of c, are too few: dark are")
	rows := []census.Row{{Progress: &census.Progress{Restless: 2, Silent: census.Silence{Dark: []census.DarkPlant{{FactoryID: "a", Of: 3, Silent: 3}}}}},
		{Progress: &census.Progress{Restless: 1, Silent: census.Silence{Dark: []census.DarkPlant{{FactoryID: "a", Of: 4, Silent: 3}, {FactoryID: "d", Of: 9, Silent: 9}}}}}}
	o := census.NewOverview(rows, nil, 10, 0)
	expect.Equal(t, o.Dark, []census.DarkPlant{{FactoryID: "d", Of: 9, Silent: 9}, {FactoryID: "a", Of: 7, Silent: 6}}, "over all rollouts")
	expect.Equal(t, o.Restless, 3, "restless boxes")
}
