package guard

import (
	"fmt"
	"slices"
	"time"
)

// An Action is what the guard recommends.
type Action string

// Actions.
const (
	Halt     Action = "halt"
	Promote  Action = "promote" // to the next stage
	Complete Action = "complete"
	Hold     Action = "hold" // leave the rollout as it is
)

// A Reason says why.
type Reason string

// Reasons to halt.
const (
	TooManyBad    Reason = "TOO_MANY_BAD"
	TooManySilent Reason = "TOO_MANY_SILENT"
	KindBad       Reason = "KIND_BAD"     // one kind of boxes is bad or silent
	HealthWorse   Reason = "HEALTH_WORSE" // a number that boxes say about their work is worse with the release
	FewBad        Reason = "FEW_BAD"      // three boxes or more of a fleet of fewer than 40 are bad or silent
)

// Reasons to hold.
const (
	NotActive        Reason = "NOT_ACTIVE"         // the rollout ended
	NotCounted       Reason = "NOT_COUNTED"        // there is no count, or it is old or of another stage
	OneOrganization  Reason = "ONE_ORGANIZATION"   // only one organization's boxes speak for a halt, and the others against it
	FactoryBad       Reason = "FACTORY_BAD"        // most boxes of one factory or organization are bad or silent
	PlantsDown       Reason = "PLANTS_DOWN"        // plants went dark soon after a box there was told
	KindDoubtful     Reason = "KIND_DOUBTFUL"      // one kind of boxes may be bad or silent
	YoungHarmed      Reason = "YOUNG_HARMED"       // boxes that were registered since the start are bad or silent
	YoungWaiting     Reason = "YOUNG_WAITING"      // too many boxes that were registered since the start are not told yet
	NotAcceptable    Reason = "NOT_ACCEPTABLE"     // more boxes are bad than the policy accepts, and fewer than halt
	Unreported       Reason = "UNREPORTED"         // too few boxes say a health number, or fewer of those with the release
	KindAbsent       Reason = "KIND_ABSENT"        // no box of a kind has lived with the release, and the policy is in a hurry
	MeterChanged     Reason = "METER_CHANGED"      // boxes with the release say another thing by a health number
	LabelsUnknown    Reason = "LABELS_UNKNOWN"     // most boxes that run the release say so in other words
	TellingStopped   Reason = "TELLING_STOPPED"    // the rollout tells no more boxes until a person decides
	EvidenceTooSmall Reason = "EVIDENCE_TOO_SMALL" // the stage has too few boxes for the test, and is not clear
	Undecided        Reason = "UNDECIDED"          // too few boxes have run the release for a soak yet
	TooFewTaken      Reason = "TOO_FEW_TAKEN"      // too few boxes have run the release for a soak, and too few still can
	Silent           Reason = "SILENT"             // boxes may be silent because of the release
	Soaking          Reason = "SOAKING"
	NotSurveyed      Reason = "NOT_SURVEYED"   // nobody has looked yet whether one kind of boxes is bad
	PeoplePromote    Reason = "PEOPLE_PROMOTE" // the policy leaves promoting to people
	WindowClosed     Reason = "WINDOW_CLOSED"
	Frozen           Reason = "FROZEN"
	ApprovalRequired Reason = "APPROVAL_REQUIRED"
)

// Clear is the reason to promote and to complete.
const Clear Reason = "CLEAR"

// inOrder are the reasons in the order in which they are listed: those to halt, and then those to hold.
var inOrder = []Reason{
	TooManyBad, TooManySilent, KindBad, HealthWorse, FewBad,
	NotActive, NotCounted, OneOrganization, FactoryBad, PlantsDown, KindDoubtful, YoungHarmed, NotAcceptable, Unreported, KindAbsent, MeterChanged, LabelsUnknown,
	TellingStopped, EvidenceTooSmall, Undecided, TooFewTaken, Silent,
	Soaking, YoungWaiting, PeoplePromote, WindowClosed, Frozen, ApprovalRequired, NotSurveyed, Clear,
}

// A Verdict is what the guard recommends at a moment, why, and how far away another verdict is.
type Verdict struct {
	Action Action `json:"verdict"`
	// Reason is the first of Reasons.
	Reason  Reason   `json:"reason"`
	Reasons []Reason `json:"reasons"`
	// Sentence puts the verdict, its reasons and the distance into words.
	Sentence string `json:"sentence"`
	// Acts reports whether the guard acts on the verdict itself.
	Acts bool `json:"acts"`
	// Stops reports whether the guard stops the rollout from telling more boxes.
	Stops bool `json:"stops,omitempty"`
	// YoungStop are organizations of which it tells no more boxes that were registered since the start. Steps is set if such boxes
	// come a stage further.
	YoungStop []string `json:"youngStop,omitempty"`
	Steps     bool     `json:"steps,omitempty"`
	Stage     int      `json:"stage"`          // the present one, in percent
	Next      int      `json:"next,omitempty"` // the stage after it; 0 at the last
	// Pages reports whether people are paged: everybody has the release, or is being told it, and it seems to go bad.
	Pages bool `json:"pages,omitempty"`
	// Wants reports whether the boxes should be looked up for a survey, or to name the culprit of a halt.
	Wants bool `json:"-"`
	// Organization is set if a halt rests on the boxes of only this one, and those of the others contradict it.
	Organization string `json:"organization,omitempty"`
	// Halting is the test of failures that is closest to a halt.
	Halting Count `json:"halting"`
	// Taken is how the stage's boxes took the release; missing until the stage has soaked.
	Taken *Taken `json:"taken,omitempty"`
	// Treated and Control are the groups behind what the verdict says about silence.
	Treated Group `json:"treated"`
	Control Group `json:"control"`
	// Looks are the last looks at the silence of each stage.
	Looks []Look `json:"looks,omitempty"`
	// Surveys are the last looks at the kinds of boxes, and Culprit is the kind that is to blame for a halt or hold.
	Surveys []Survey `json:"surveys,omitempty"`
	Culprit *Culprit `json:"culprit,omitempty"`
	// Health are the last looks at the health numbers.
	Health []Comparison `json:"health,omitempty"`
	// Few is the last look at a fleet of fewer than 40 boxes.
	Few *Few `json:"few,omitempty"`
	// Young is the last look at the boxes that were registered since the start; nil: there are none.
	Young *Young `json:"young,omitempty"`
	// Plants are those of the last look, if some went down because of the release.
	Plants *Plants `json:"plants,omitempty"`
	// Retrying are boxes that failed so recently that they may recover; nil: none.
	Retrying *Retrying `json:"retrying,omitempty"`
	// Needs is what the rollout waits for a person to do; nil: nothing. Over is such a need that has ended lately.
	Needs    *Need    `json:"needs,omitempty"`
	Over     *Need    `json:"over,omitempty"`
	Distance Distance `json:"distance"`
}

// Retrying are boxes that failed so recently that they do not count as bad yet.
type Retrying struct {
	Boxes int `json:"boxes"`
	Told  int `json:"told"` // boxes that were told the release, with these
	// Until is when the last of them counts as bad, unless it recovers. Halts is set if the rollout is halted by then, unless
	// some recover.
	Until time.Time `json:"until"`
	Halts bool      `json:"halts,omitempty"`
}

func (r *Retrying) sentence(mode Mode) string {
	text := fmt.Sprintf("%d of %s that were told the release failed and may try again", r.Boxes, boxes(r.Told))
	if !r.Halts {
		return text
	}
	does := "halts"
	if mode != Act {
		does = "would halt"
	}
	return fmt.Sprintf("%s; if they do not recover by %s, the guard %s", text, r.Until.UTC().Format(time.RFC3339), does)
}

// Suspicion is the reason for which the guard stops telling boxes; empty if there is none.
func (v Verdict) Suspicion() Reason {
	for _, r := range v.Reasons {
		if r == OneOrganization || r == FactoryBad || r == PlantsDown || r == KindDoubtful || r == YoungHarmed || r == Silent && v.silenceDoubted() || r == EvidenceTooSmall && v.Few.doubts() {
			return r
		}
	}
	return ""
}

// silenceDoubted reports whether a look or a survey holds the rollout because of silence. What is away at the end of a soak holds it,
// too, and stops nothing: that test has no budget for all its looks.
func (v Verdict) silenceDoubted() bool {
	return slices.ContainsFunc(v.Looks, func(l Look) bool { return l.Doubts }) || slices.ContainsFunc(v.Surveys, func(s Survey) bool { return s.Silent })
}

// A Count is the input of a test of failures: the boxes of one stage, or of all, that were told the release.
type Count struct {
	Percent    int     `json:"percent,omitempty"` // of the stage; 0: all boxes
	Boxes      int     `json:"boxes"`
	Bad        int     `json:"bad"`
	Likelihood float64 `json:"likelihood"`
	Limit      float64 `json:"limit"` // at which the likelihood halts while the stage soaks

	last bool // the test at the end of the soak
}

func (c Count) sentence() string {
	with := "with the release"
	if c.Percent != 0 {
		with = fmt.Sprintf("of stage %d with the release", c.Percent)
	}
	return fmt.Sprintf("%d of %s %s are bad", c.Bad, boxes(c.Boxes), with)
}

// A Distance is how far away another verdict is. The rule itself finds the numbers: with that many boxes the verdict
// changes, and with one fewer it does not. A number is -1 if no number of boxes would change it.
type Distance struct {
	// MoreBad is how many more bad boxes would halt the rollout. Undecided is how many boxes are neither good nor bad yet.
	MoreBad   int `json:"moreBad"`
	Undecided int `json:"undecided"`
	// FewerBad is how many fewer bad boxes would not halt it; 0 if the test of failures does not halt.
	FewerBad int `json:"fewerBad"`
	// MoreGood is how many more boxes of Taken must become good; -1 until they are counted. Spare is how many more are
	// good than needed.
	MoreGood int `json:"moreGood"`
	Spare    int `json:"spare"`
	// MoreSilent is how many more silent boxes among the treated would have halted the rollout at the last look.
	MoreSilent int `json:"moreSilent"`
	// Soaked is how long the rollout has been at its stage, in seconds. Soak is the least time that it stays at it.
	Soaked int64 `json:"soakedSeconds"`
	Soak   int64 `json:"soakSeconds"`
	// OpensAt is when the next window opens; absent if none opens within two weeks.
	OpensAt *time.Time `json:"opensAt,omitempty"`
}
