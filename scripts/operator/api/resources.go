package api

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"
)

// The parts of the contract's documents that the command reads.
type (
	// A Channel is a release channel.
	Channel struct {
		EdgeType       string          `json:"edgeType"`
		Channel        string          `json:"channel"`
		CurrentVersion string          `json:"currentVersion"`
		ArtifactURL    string          `json:"artifactUrl"`
		SHA256         string          `json:"sha256"`
		UpdatedAt      time.Time       `json:"updatedAt"`
		ActiveRollout  *RunningRollout `json:"activeRollout"`
	}
	// A RunningRollout is the active rollout of a channel.
	RunningRollout struct {
		ID            string `json:"id"`
		TargetVersion string `json:"targetVersion"`
		StagedPercent int    `json:"staged_percent"`
		Revision      int64  `json:"revision"`
		Guard         string `json:"guard"` // act, advise or none
	}
	// A Rollout brings a version to the boxes of a channel.
	Rollout struct {
		ID              string    `json:"id"`
		EdgeType        string    `json:"edgeType"`
		Channel         string    `json:"channel"`
		TargetVersion   string    `json:"targetVersion"`
		PreviousVersion string    `json:"previousVersion"`
		StagedPercent   int       `json:"staged_percent"`
		Status          string    `json:"status"`
		Guard           string    `json:"guard"` // act, advise or none
		StartedAt       time.Time `json:"startedAt"`
		UpdatedAt       time.Time `json:"updatedAt"`
		// StageSince is when the rollout reached its stage, or was last resumed there.
		StageSince  time.Time  `json:"stageSince"`
		StartedBy   Person     `json:"startedBy"`
		Terms       *Terms     `json:"terms"`
		EndedAt     *time.Time `json:"endedAt"`
		EndedBy     string     `json:"endedBy"`
		CompletedAt *time.Time `json:"completedAt"` // a completed rollout is never active again
		Adopted     bool       `json:"adopted"`
		Revision    int64      `json:"revision"`
	}
	// A Person is somebody who did something.
	Person struct {
		UserID string `json:"userId"`
	}
	// Terms are a rollout's policy and who approved what.
	Terms struct {
		Policy struct {
			Approvals struct {
				Before []int `json:"before"`
			} `json:"approvals"`
		} `json:"policy"`
		Approvals []Approval `json:"approvals"`
	}
	// An Approval is a person's, to raise a rollout to a stage.
	Approval struct {
		Stage int       `json:"stage"`
		By    Person    `json:"by"`
		At    time.Time `json:"at"`
	}
	// A Freeze keeps everybody from starting, promoting and publishing until a time.
	Freeze struct {
		Reason string    `json:"reason"`
		Until  time.Time `json:"until"`
	}
	// An Overview is a page of the active rollouts, those with trouble first. Its parts are documents.
	Overview struct {
		Freeze json.RawMessage `json:"freeze"`
		Active int             `json:"active"`
		More   bool            `json:"more"` // more rollouts are active than were examined
		Items  []OverviewRow   `json:"items"`
	}
	// An OverviewRow is an active rollout with its last count.
	OverviewRow struct {
		Trouble    string          `json:"trouble"`
		Rollout    json.RawMessage `json:"rollout"`
		Progress   json.RawMessage `json:"progress"` // nil: it was never counted
		AgeSeconds int64           `json:"ageSeconds"`
	}
	// Progress is how far a rollout has come.
	Progress struct {
		AsOf          time.Time       `json:"asOf"`
		StagedPercent int             `json:"staged_percent"`
		Stages        []StageProgress `json:"stages"`
		Failures      map[string]int  `json:"failures"`
		Silent        struct {
			Of    int `json:"of"`
			Boxes int `json:"boxes"`
		} `json:"silent"`
		Guard *Guard `json:"guard"`
	}
	// A Guard is the guard's judgement of a rollout at a stage.
	Guard struct {
		Stage        int    `json:"stage"`
		Next         int    `json:"next"`
		Revision     int64  `json:"revision"` // of the rollout that was judged
		Verdict      string `json:"verdict"`
		Reason       string `json:"reason"`
		Sentence     string `json:"sentence"`
		Organization string `json:"organization"`
		Halting      struct {
			Percent int `json:"percent"` // the stage of the counted boxes; 0: all
			Bad     int `json:"bad"`
		} `json:"halting"`
		Treated struct {
			Silent int `json:"silent"`
		} `json:"treated"`
		Distance struct {
			MoreBad       int   `json:"moreBad"`
			MoreSilent    int   `json:"moreSilent"`
			SoakedSeconds int64 `json:"soakedSeconds"`
			SoakSeconds   int64 `json:"soakSeconds"`
		} `json:"distance"`
	}
	// A StageProgress counts the boxes that the stage adds.
	StageProgress struct {
		Percent      int `json:"percent"`
		Expected     int `json:"expected"`
		NotYetPolled int `json:"notYetPolled"`
		Offered      int `json:"offered"`
		Working      int `json:"working"`
		Deferred     int `json:"deferred"`
		Installed    int `json:"installed"`
		Failed       int `json:"failed"`
		Reverted     int `json:"reverted"`
	}
	// A ChannelProgress counts the boxes of a channel by version.
	ChannelProgress struct {
		Boxes int `json:"boxes"`
	}
	// An Event is an event of the audit trail.
	Event struct {
		EventTime time.Time `json:"eventTime"`
		EventName string    `json:"eventName"`
		Actor     Person    `json:"actor"`
		Resource  struct {
			Type string `json:"type"`
			ID   string `json:"id"`
		} `json:"resource"`
		Reason         string `json:"reason"`
		OverrideReason string `json:"overrideReason"`
		Cause          struct {
			Sentence string `json:"sentence"`
		} `json:"cause"`
		Before map[string]any `json:"before"`
		After  map[string]any `json:"after"`
	}
)

// OnItsWay counts the boxes that were told of the version and have neither installed it nor failed.
func (s StageProgress) OnItsWay() int { return s.Offered + s.Working + s.Deferred }

// Told counts the boxes that were told of the version.
func (s StageProgress) Told() int { return s.Expected - s.NotYetPolled }

// Total adds up the stages that the rollout has reached.
func (p Progress) Total() StageProgress { return p.Of(0) }

// Of is the progress at one of the stages that the rollout has reached; with 0, at all of them together.
func (p Progress) Of(stage int) (sum StageProgress) {
	for _, s := range p.Stages {
		if s.Percent <= p.StagedPercent && (stage == 0 || stage == s.Percent) {
			sum.Expected += s.Expected
			sum.NotYetPolled += s.NotYetPolled
			sum.Offered += s.Offered
			sum.Working += s.Working
			sum.Deferred += s.Deferred
			sum.Installed += s.Installed
			sum.Failed += s.Failed
			sum.Reverted += s.Reverted
		}
	}
	return sum
}

// ChannelID is the name of the rollout's channel.
func (r Rollout) ChannelID() string { return r.EdgeType + "/" + r.Channel }

// Approved returns the approval of a stage, or nil.
func (r Rollout) Approved(stage int) *Approval {
	if r.Terms != nil {
		for i, given := range r.Terms.Approvals {
			if given.Stage == stage {
				return &r.Terms.Approvals[i]
			}
		}
	}
	return nil
}

// ID is the channel's name.
func (c Channel) ID() string { return c.EdgeType + "/" + c.Channel }

// ChannelPath is the path of a channel.
func ChannelPath(name string) string {
	edgeType, channel, _ := strings.Cut(name, "/")
	return "/api/ota/release-channels/" + url.PathEscape(edgeType) + "/" + url.PathEscape(channel)
}

// ChannelName splits the name of a channel. ok reports whether it is one.
func ChannelName(name string) (edgeType, channel string, ok bool) {
	edgeType, channel, _ = strings.Cut(name, "/")
	return edgeType, channel, edgeType != "" && channel != "" && !strings.Contains(channel, "/")
}

// RolloutPath is the path of a rollout.
func RolloutPath(id string) string { return "/api/ota/rollouts/" + url.PathEscape(id) }

// EdgePath is the path of a box.
func EdgePath(id string) string { return "/api/edges/" + url.PathEscape(id) }
