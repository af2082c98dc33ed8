package api

import (
	"net/url"
	"strings"
	"time"
)

// What the command reads of the contract's documents.
type (
	// A Channel is a release channel.
	Channel struct {
		EdgeType       string          `json:"edgeType"`
		Channel        string          `json:"channel"`
		CurrentVersion string          `json:"currentVersion"`
		ActiveRollout  *RunningRollout `json:"activeRollout"`
	}
	// A RunningRollout is the one that is active on a channel.
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
		EndedBy         string    `json:"endedBy"`
		StartedAt       time.Time `json:"startedAt"`
		UpdatedAt       time.Time `json:"updatedAt"`
		Adopted         bool      `json:"adopted"`
		Revision        int64     `json:"revision"`
	}
	// Progress is how far a rollout is.
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
	// A Guard is what the guard says of a rollout at a stage.
	Guard struct {
		Stage    int    `json:"stage"`
		Verdict  string `json:"verdict"`
		Reason   string `json:"reason"`
		Sentence string `json:"sentence"`
	}
	// A StageProgress counts the boxes that it is the first to reach.
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
	// A ChannelProgress is which boxes of a channel run what.
	ChannelProgress struct {
		Boxes int `json:"boxes"`
	}
	// An Event is one of the audit trail.
	Event struct {
		EventTime time.Time `json:"eventTime"`
		EventName string    `json:"eventName"`
		Actor     struct {
			UserID string `json:"userId"`
		} `json:"actor"`
		Resource struct {
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

// OnItsWay counts the boxes that were told of the version and have come to no end with it.
func (s StageProgress) OnItsWay() int { return s.Offered + s.Working + s.Deferred }

// Bad counts the boxes on which the version did not stay.
func (s StageProgress) Bad() int { return s.Failed + s.Reverted }

// ID is the channel as people name it.
func (c Channel) ID() string { return c.EdgeType + "/" + c.Channel }

// ChannelPath is the path of a channel, and ChannelName reports whether a text names one.
func ChannelPath(name string) string {
	edgeType, channel, _ := strings.Cut(name, "/")
	return "/api/ota/release-channels/" + url.PathEscape(edgeType) + "/" + url.PathEscape(channel)
}

// ChannelName takes the name of a channel apart.
func ChannelName(name string) (edgeType, channel string, ok bool) {
	edgeType, channel, _ = strings.Cut(name, "/")
	return edgeType, channel, edgeType != "" && channel != "" && !strings.Contains(channel, "/")
}

// RolloutPath is the path of a rollout.
func RolloutPath(id string) string { return "/api/ota/rollouts/" + url.PathEscape(id) }

// EdgePath is the path of a box.
func EdgePath(id string) string { return "/api/edges/" + url.PathEscape(id) }
