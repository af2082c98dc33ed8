package guard

import "time"

// An outlook says how a hold for a reason ends.
type outlook struct {
	// Ends says when it ends by itself; empty: only a person ends it.
	Ends string
	// Do says what a person does who is needed.
	Do string
}

const judge = "halt it if in doubt, and resume it if the release is not the cause"

// outlooks are those of all reasons.
var outlooks = map[Reason]outlook{
	TooManyBad:       {Ends: "the guard halts it", Do: haltIt},
	TooManySilent:    {Ends: "the guard halts it", Do: haltIt},
	KindBad:          {Ends: "the guard halts it", Do: haltIt},
	HealthWorse:      {Ends: "the guard halts it", Do: haltIt},
	FewBad:           {Ends: "the guard halts it", Do: haltIt},
	NotActive:        {Ends: "it has ended"},
	NotCounted:       {Ends: "the next count"},
	OneOrganization:  {Do: "ask the organization what happened to its boxes; then halt it, or resume it without the organization"},
	FactoryBad:       {Do: "find out what happened to the boxes there; " + judge},
	PlantsDown:       {Do: "halt it, and find out what happened to these plants; resume it if the release is not the cause"},
	KindDoubtful:     {Do: "look at these boxes; " + judge},
	YoungWaiting:     {Ends: "they are told, at most a soak a stage"},
	YoungHarmed:      {Do: "look at the new boxes; " + judge},
	NotAcceptable:    {Do: "look at the bad boxes; then promote it if you accept so many, or halt it"},
	Unreported:       {Do: "find out why boxes do not say the number; then promote it, or halt it"},
	KindAbsent:       {Do: "try it on a box of that kind; then promote it, or halt it"},
	MeterChanged:     {Do: "find out whether the release says the number otherwise; then promote it, or halt it"},
	LabelsUnknown:    {Do: setForm},
	TellingStopped:   {Do: judge},
	EvidenceTooSmall: {Do: "look at the bad and the silent boxes; halt it if in doubt, and promote it if the release is not the cause"},
	Undecided:        {Ends: "enough boxes have run the release for a soak, or can no longer"},
	TooFewTaken:      {Do: "find out why boxes have not taken it; then see that they do, or halt it"},
	Silent:           {Do: "find out whether the silent boxes are dead; halt it if in doubt, and promote it if the release is not the cause"},
	Soaking:          {Ends: "the soak is over"},
	NotSurveyed:      {Ends: "the next count"},
	PeoplePromote:    {Do: "promote it, or halt it"},
	WindowClosed:     {Ends: "the next window opens"},
	Frozen:           {Ends: "the freeze is over"},
	ApprovalRequired: {Do: "approve the next stage"}, // it has an event of its own
	Clear:            {Ends: "the guard promotes or completes it"},
}

const haltIt = "halt it: the policy only advises"

// A Need is what a rollout waits for a person to do.
type Need struct {
	Reason Reason `json:"reason"`
	Stage  int    `json:"stage"`
	Do     string `json:"do"`
	// Counts is how many counts in a row found it; or if it has ended, for how many it has been over.
	Counts int `json:"counts"`
}

// standsAfter is the number of counts after which a need is told, and toldUntil that after which it is told no more: each
// attempt to tell it costs a read.
const (
	standsAfter = 10
	toldUntil   = 2 * standsAfter
)

// Stands reports whether a need has stood so long that people are told.
func (n *Need) Stands() bool { return n != nil && n.Counts >= standsAfter }

// IsTold reports whether people are told at this count.
func (n *Need) IsTold() bool { return n.Stands() && n.Counts < toldUntil }

// Alarms reports whether a need that stands is unexpected: a person who chose to promote expects to be needed.
func (n *Need) Alarms() bool { return n.Stands() && n.Reason != PeoplePromote }

// After counts a need, given the last one; nil: there was none.
func (n *Need) After(last *Need) *Need {
	if n == nil {
		return nil
	}
	next := *n
	if next.Counts = 1; next.Is(last) {
		next.Counts += last.Counts
	}
	return &next
}

// Is reports whether two needs are the same.
func (n *Need) Is(other *Need) bool {
	return n != nil && other != nil && n.Reason == other.Reason && n.Stage == other.Stage
}

// Over is the need that stood before and no longer does, or was over before; nil: none. n is the present one.
func (n *Need) Over(last, over *Need) *Need {
	switch {
	case last.Stands() && !n.Is(last):
		ended := *last
		ended.Counts = 0
		return &ended
	case over != nil && over.Counts < standsAfter && !n.Is(over):
		still := *over
		still.Counts++
		return &still
	}
	return nil
}

// unseenFor is how long after its soak a stage waits for boxes that have not been seen: a week, and a day.
const unseenFor = 8 * 24 * time.Hour

// need is what the rollout waits for a person to do; nil: nothing, or it ends by itself. Whoever leaves promoting to people
// is needed only once nothing else is awaited.
func (d decision) need(v Verdict, found findings) *Need {
	if !d.evidence.Active || v.Acts {
		return nil
	}
	var reason Reason
	for _, f := range found {
		if r, needs := d.needsFor(f, found); needs {
			reason = r
			break
		}
	}
	if len(d.evidence.Newcomers.Stopped) > 0 && (reason == "" || reason == PeoplePromote) {
		reason = YoungHarmed
	}
	if reason == "" {
		return nil
	}
	return &Need{Reason: reason, Stage: v.Stage, Do: outlooks[reason].Do}
}

// needsFor reports whether a finding needs a person, and for which reason.
func (d decision) needsFor(f finding, found findings) (Reason, bool) {
	t, e := d.evidence.Taken, d.evidence
	switch f.reason {
	case ApprovalRequired: // it has an event of its own
		return "", false
	case PeoplePromote:
		return PeoplePromote, found.leftToPeople()
	case EvidenceTooSmall:
		if e.fleet() == 0 || !d.few().doubts() && !(d.isSmall() && d.badUnexplained()) { // the policy says so
			return PeoplePromote, e.fleet() > 0 && found.leftToPeople(EvidenceTooSmall)
		}
	case TooFewTaken:
		unseen := t.Causes[NotPolled] + t.Causes[Gone] + t.Causes[Waiting]
		return TooFewTaken, t.Good+t.Young+unseen < t.Needed || d.soaked() >= d.policy.SoakAt(e.Stage)+unseenFor
	}
	return f.reason, f.halts || outlooks[f.reason].Ends == ""
}
