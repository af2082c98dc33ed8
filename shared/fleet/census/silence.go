package census

import (
	"cmp"
	"math"
	"slices"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/stats"
)

// Silence is how many boxes of a rollout are silent. A silent box was offered the version, is working on it or runs it,
// and has not been seen for a while. If more than SampleSize boxes could be silent, a random sample of SampleSize boxes
// gives an estimate.
type Silence struct {
	Of      int `json:"of"`      // boxes that are expected to poll
	Sampled int `json:"sampled"` // of these, those looked up
	Silent  int `json:"silent"`  // of those, the silent ones
	Unknown int `json:"unknown"` // of those, the ones with an unknown last poll
	// Boxes estimates how many of all are silent. With 95 percent confidence they are Low to High.
	Boxes int `json:"boxes"`
	Low   int `json:"low"`
	High  int `json:"high"`
	// EdgeIDs names silent boxes, up to MostSilentNamed.
	EdgeIDs []string `json:"edgeIds,omitempty"`
	// Dark are the plants in which most of the boxes that were looked up are silent, up to mostDark.
	Dark []DarkPlant `json:"dark,omitempty"`
}

// A DarkPlant is a plant that is probably switched off or cut off: so many of its boxes are silent.
type DarkPlant struct {
	FactoryID string `json:"factoryId"`
	Of        int    `json:"of"` // boxes that were looked up
	Silent    int    `json:"silent"`
}

// A plant is dark if at least enoughDark of its boxes were looked up, and darkPercent of these are silent. mostDark limits
// the plants that are named.
const (
	enoughDark  = 3
	darkPercent = 70
	mostDark    = 20
)

// dark reports whether so many of a plant's boxes are silent that its silence is its own: it is switched off.
func dark(silent, of int) bool { return 100*silent >= darkPercent*of }

// darkest orders plants by their silent boxes, most first, and cuts the list.
func darkest(all []DarkPlant) []DarkPlant {
	slices.SortFunc(all, func(a, b DarkPlant) int {
		return cmp.Or(cmp.Compare(b.Silent, a.Silent), cmp.Compare(a.FactoryID, b.FactoryID))
	})
	return all[:min(len(all), mostDark)]
}

// MostSilentNamed limits the silent boxes that are named.
const MostSilentNamed = 20

// A Sighting is a box of the sample: its offer, and when it was last seen, if that is known.
type Sighting struct {
	EdgeID         string
	OrganizationID string
	FactoryID      string
	Offer          report.Offer // of the rollout; empty if the box has none of it
	LastSeen       time.Time
	Restless       bool
	Mislabelled    report.Form // see report.Row.Mislabelled
	Never          bool        // it has never called
}

// Silent estimates the silent boxes among so many from a sample.
func Silent(of int, sample []Sighting, now time.Time, after time.Duration) Silence {
	s := Silence{Of: of, Sampled: len(sample)}
	plants := map[string]DarkPlant{}
	for _, box := range sample {
		if box.LastSeen.IsZero() {
			s.Unknown++
		}
		silent := box.Offer.Silent(box.LastSeen, now, after)
		if plant := plants[box.FactoryID]; box.FactoryID != "" && box.Offer.Awaited() {
			if plant.Of++; silent {
				plant.Silent++
			}
			plants[box.FactoryID] = plant
		}
		if !silent {
			continue
		}
		s.Silent++
		if len(s.EdgeIDs) < MostSilentNamed {
			s.EdgeIDs = append(s.EdgeIDs, box.EdgeID)
		}
	}
	for id, p := range plants {
		if p.FactoryID = id; p.Of >= enoughDark && dark(p.Silent, p.Of) {
			s.Dark = append(s.Dark, p)
		}
	}
	s.Dark = darkest(s.Dark)
	if s.Sampled >= s.Of {
		s.Boxes, s.Low, s.High = s.Silent, s.Silent, s.Silent
		return s
	}
	low, high := stats.Interval(s.Silent, s.Sampled)
	all := float64(s.Of)
	s.Boxes = int(math.Round(float64(s.Silent) / float64(s.Sampled) * all))
	s.Low, s.High = int(math.Floor(low*all)), int(math.Ceil(high*all))
	return s
}
