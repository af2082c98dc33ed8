package box

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// A Manifest is the service's answer to a poll, as far as a box needs it.
type Manifest struct {
	Version     string `json:"version"`
	ArtifactURL string `json:"artifactUrl"`
	SHA256      string `json:"sha256"`
	Source      string `json:"source"`
	RolloutID   string `json:"rolloutId"`
	// PollIntervalSeconds is how long to wait before the next poll if nothing rings.
	PollIntervalSeconds int `json:"pollIntervalSeconds"`
	// Bell is missing if the service has none. Then the box only polls.
	Bell *Bell `json:"bell"`
	// Door is where the box may call instead of the API; empty: nowhere.
	Door string `json:"door"`
	// Health are the numbers about its work that the box is asked for.
	Health []string `json:"health"`
}

// A Bell is where a box learns that something may have changed for it.
type Bell struct {
	URL string `json:"url"`
	// Call is the code by which the bell calls only this box.
	Call string `json:"call"`
}

// A Ring is an answer of the bell.
type Ring struct {
	// Sound changes if something has changed on the channel.
	Sound string
	// Tag is the entity tag. It changes with the sound and with the calls.
	Tag string
	// Interval is how long to wait before the next call.
	Interval time.Duration
	// Calls are the codes of boxes for which something has changed.
	Calls []string
}

// A Report is a box's report about an attempt.
type Report struct {
	Version   string     `json:"version"`
	RolloutID string     `json:"rolloutId,omitempty"`
	Attempt   int        `json:"attempt"`
	Outcome   string     `json:"outcome"`
	Code      string     `json:"code,omitempty"`
	Detail    string     `json:"detail,omitempty"`
	Until     *time.Time `json:"until,omitempty"`
}

// Outcomes of an attempt.
const (
	Failed   = "failed"
	Deferred = "deferred"
)

// Advice is the answer to a report.
type Advice struct {
	RetryAfter time.Duration
	GiveUp     bool // make no further attempt
}

// longest is the longest interval that is accepted from the service. It keeps sums of times in range.
const longest = 366 * 24 * 3600

func parseManifest(body []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(body, &m); err != nil {
		return Manifest{}, fmt.Errorf("a manifest: %w", err)
	}
	if sum, err := hex.DecodeString(m.SHA256); err != nil || len(sum) != 32 {
		return Manifest{}, fmt.Errorf("a manifest with the digest %q", m.SHA256)
	}
	if m.Version == "" || m.ArtifactURL == "" || m.PollIntervalSeconds < 1 || m.PollIntervalSeconds > longest {
		return Manifest{}, errors.New("a manifest without a version, an artifact or an interval")
	}
	if m.Bell != nil && !absolute(m.Bell.URL) || m.Door != "" && !absolute(m.Door) {
		return Manifest{}, fmt.Errorf("a bell or a door at no URL: %+v %q", m.Bell, m.Door)
	}
	return m, nil
}

func absolute(text string) bool {
	at, err := url.Parse(text)
	return err == nil && (at.Scheme == "https" || at.Scheme == "http") && at.Host != ""
}

func parseRing(tag string, body []byte) (Ring, error) {
	var r struct {
		Sound           string
		IntervalSeconds int
		Calls           []string
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return Ring{}, fmt.Errorf("an answer of the bell: %w", err)
	}
	if tag == "" || r.Sound == "" || r.IntervalSeconds < 1 || r.IntervalSeconds > longest {
		return Ring{}, errors.New("an answer of the bell without a sound, an entity tag or an interval")
	}
	return Ring{Sound: r.Sound, Tag: tag, Interval: time.Duration(r.IntervalSeconds) * time.Second, Calls: r.Calls}, nil
}

func parseAdvice(body []byte) (Advice, error) {
	var a struct {
		RetryAfterSeconds int
		Retry             *bool
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return Advice{}, fmt.Errorf("an answer to a report: %w", err)
	}
	return Advice{RetryAfter: time.Duration(min(max(a.RetryAfterSeconds, 0), longest)) * time.Second, GiveUp: a.Retry != nil && !*a.Retry}, nil
}
