package decide

import (
	"fmt"
	"strings"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
)

// Sentence explains to a person why a box is told this version. status is that of the rollout in the channel's row.
func (d Decision) Sentence(b Box, status string) string { return speaker{b, d, status}.says(d) }

// A speaker explains a decision, and those that follow it.
type speaker struct {
	b      Box
	first  Decision
	status string
}

func (s speaker) says(d Decision) string {
	channel := s.b.Row.Channel
	switch d.Reason {
	case Pin:
		p := s.b.Pin
		return fmt.Sprintf("Told %s: %s pinned it until %s: %s.", d.Version, p.By.UserID, p.Until.UTC().Format(time.RFC3339), strings.TrimSuffix(p.Reason, "."))
	case Hold:
		hold := report.Holding(s.b.Pin, s.b.Hold, s.b.At)
		if hold == nil {
			return fmt.Sprintf("Told %s: it ran that version when it was registered, and %s has an older release for it. A publication there sends it back.", d.Version, channel)
		}
		return fmt.Sprintf("Told %s: it runs that version, %s moved or unpinned it at %s, and %s has an older release for it. A publication there, or allowDowngrade, sends it back.",
			d.Version, hold.By.UserID, hold.Since.UTC().Format(time.RFC3339), channel)
	case Stone:
		return fmt.Sprintf("Told %s first: it runs %s, and %s requires that it passes %s. After that: %s", d.Version, s.b.Runs, d.Next.Version, d.Version, s.says(*d.Next))
	case RequiresUnknown:
		return fmt.Sprintf("Told %s, and stays on it: %s requires an earlier release, and the box does not say what it runs. After that: %s", d.Version, d.Next.Version, s.says(*d.Next))
	case StoneMissing:
		return fmt.Sprintf("Told nothing: release %s, which %s requires, is missing. Publish it again.", d.Next.Version, d.Next.Next.Version)
	case NothingPublished:
		return fmt.Sprintf("Told nothing: nothing is published on %s.", channel)
	case Installed:
		return fmt.Sprintf("Told %s: it runs that version from a rollout on %s, and only a publication or a return sends a box back.", d.Version, channel)
	case Returned:
		return fmt.Sprintf("Told %s: it runs %s, and the rollout on %s that brought it that version was returned.", d.Version, s.b.Has, channel)
	case Kept:
		return fmt.Sprintf("Told %s: the rollout that brought %s to %s left out the box's organization, which keeps the version before.", d.Version, s.first.Channel.CurrentVersion, channel)
	case Undescribed:
		return fmt.Sprintf("Told nothing new: release %s was published without sizeBytes and sha1, which the box's DDI client needs; publish it again with both.", d.Next.Version)
	case Imported:
		return fmt.Sprintf("Told nothing new: it comes from another server since %s, and has not said what it runs. It is asked at each poll; wavegate box assume says it for the box. Then: %s",
			s.b.Row.Imported.Since.UTC().Format(time.RFC3339), s.says(*d.Next))
	case Window, Pause, Group, OptOut:
		return s.waits(d)
	case Rollout, NotReached, LeftOut, TellingStopped, RolloutEnded:
		return fmt.Sprintf("Told %s: ", d.Version) + s.rollout(d)
	}
	return fmt.Sprintf("Told %s: it is published on %s and no rollout is active there.", d.Version, channel)
}

// rollout is how the rollout in the channel's row concerns the box.
func (s speaker) rollout(d Decision) string {
	c := s.first.Channel.Rollout
	rollout := fmt.Sprintf("rollout %s on %s", c.TargetVersion, s.b.Row.Channel)
	place := fmt.Sprintf("its percentile is %d and %s is at %d percent", cohort.Of(s.b.EdgeType, c.TargetVersion, s.b.EdgeID).Percentile(), rollout, c.StagedPercent)
	switch d.Reason {
	case NotReached:
		if young := s.b.FirstAt().After(c.StartedAt); young && c.StopsYoung(s.b.OrganizationID) {
			return fmt.Sprintf("%s; it was registered since then, and no more such boxes are told until a person resumes the rollout.", place)
		}
		if c.Reaches(s.b.EdgeType, s.b.EdgeID, s.b.OrganizationID, s.b.FirstAt(), true) {
			return fmt.Sprintf("%s; it was registered since then, and such boxes come at least a stage later.", place)
		}
		return fmt.Sprintf("%s; it is reached at %d.", place, cohort.FirstStage(s.b.EdgeType, c.TargetVersion, s.b.EdgeID))
	case LeftOut:
		return rollout + " leaves out the box's organization."
	case TellingStopped:
		return rollout + " tells no more boxes until a person goes on with it."
	case RolloutEnded:
		return fmt.Sprintf("%s is %s at %d percent and reaches no more boxes.", rollout, s.status, c.StagedPercent)
	}
	return place + "."
}

// says is why a box keeps its group waiting, and until when.
func (b Blocker) says() string {
	if !b.Silent {
		return "was told something and has not run it long enough, or fell back"
	}
	silent, until := "is silent since ", ", after it was told the same. It keeps its group waiting until somebody takes it out of the group"
	if b.Seen.IsZero() {
		silent = "has been silent for long"
	} else {
		silent += b.Seen.UTC().Format(time.RFC3339)
	}
	if !b.Until.IsZero() {
		until = ". Its group waits for it until " + b.Until.UTC().Format(time.RFC3339)
	}
	return silent + until
}

// waits is the sentence for a box that waits.
func (s speaker) waits(d Decision) string {
	told, then := fmt.Sprintf("Told %s, which it has: ", d.Version), "Then: "+s.says(*d.Next)
	if d.Version == "" {
		told = "Told nothing new: "
	}
	opens := "not within two weeks"
	if !d.Wait.Opens.IsZero() {
		opens = d.Wait.Opens.UTC().Format(time.RFC3339)
	}
	switch d.Reason {
	case Group:
		return fmt.Sprintf("%sbox %s of its group %s. %s", told, d.Blocker.EdgeID, d.Blocker.says(), then)
	case OptOut:
		o := d.Updates.OptOut
		of, until := "updates", "somebody ends that"
		if o.Of == calendar.OfOrdinary {
			of = "updates but those for security"
		}
		if o.Until != nil {
			until = o.Until.UTC().Format(time.RFC3339)
		}
		return fmt.Sprintf("%sits plant %s takes no %s until %s, as %s said at %s: %s. %s",
			told, s.b.FactoryID, of, until, o.By.UserID, o.At.UTC().Format(time.RFC3339), strings.TrimSuffix(o.Reason, "."), then)
	case Pause:
		return fmt.Sprintf("%sits plant %s pauses: %s. It opens next: %s. %s", told, s.b.FactoryID, strings.TrimSuffix(d.Updates.Reason, "."), opens, then)
	}
	if d.Wait.Overdue {
		opens += ". The release is past its deadline"
	}
	return fmt.Sprintf("%sits plant %s takes updates only in its windows. It opens next: %s. %s", told, s.b.FactoryID, opens, then)
}
