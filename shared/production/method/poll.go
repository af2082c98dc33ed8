package method

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
)

// A Poll is what a machine's controller is told: of each method that concerns the machine, which version
// holds.
type Poll struct {
	Items []Standing `json:"items"`
	// PollIntervalSeconds is how long the controller is asked to wait before its next poll.
	PollIntervalSeconds int `json:"pollIntervalSeconds"`
}

// A Phase says how far a version that holds has come.
type Phase string

// Phases.
const (
	OnTrial    Phase = "trial"
	IsReleased Phase = "released"
)

// A Standing is how a method stands on a machine at a time. Where no version holds that concerns the
// machine, the fields from version to effectiveFrom are absent.
type Standing struct {
	MethodID      string     `json:"methodId"`
	Version       int64      `json:"version,omitempty"`
	WorkMasterID  string     `json:"workMasterId,omitempty"`
	Phase         Phase      `json:"phase,omitempty"`
	ContentSHA256 string     `json:"contentSha256,omitempty"`
	Content       string     `json:"content,omitempty"` // the path of the content
	EffectiveFrom *time.Time `json:"effectiveFrom,omitempty"`
	// TrailSHA256 is for the controller to keep with what it produces; see package trail.
	TrailSHA256 string `json:"trailSha256,omitempty"`
	// Next is what takes over, so that a controller can fetch it ahead and switch without a connection.
	Next *Following `json:"next,omitempty"`
	// Withdrawn are versions that were withdrawn, the newest first, and what becomes of their orders.
	Withdrawn []Recall `json:"withdrawn"`
}

// Following is the version that takes over at a time.
type Following struct {
	Version int64     `json:"version"`
	From    time.Time `json:"from"`
}

// A Recall tells of a withdrawn version.
type Recall struct {
	Version int64  `json:"version"`
	Orders  Orders `json:"orders"`
}

// On tells how the method stands on a machine of some classes at a time, and whether it concerns the machine:
// whether a version that holds, follows or was withdrawn has a step for it. Content paths are made by href.
func (m Method) On(machine string, classes []string, t time.Time, href func(version int64) string) (Standing, bool) {
	s := Standing{MethodID: m.MethodID, TrailSHA256: m.TrailSHA256, Withdrawn: []Recall{}}
	concerned := false
	if d, ok := m.Effectivity.At(machine, t); ok && d.Equipment.Concerns(machine, classes) {
		concerned = true
		s.Version, s.WorkMasterID, s.ContentSHA256 = d.Version, WorkMasterID(m.MethodID, d.Version), d.ContentSHA256
		s.Content, s.EffectiveFrom, s.Phase = href(d.Version), &d.From, IsReleased
		if !d.everywhere() {
			s.Phase = OnTrial
		}
	}
	if d, ok := m.Effectivity.Next(machine, t); ok && (concerned || d.Equipment.Concerns(machine, classes)) {
		concerned = true
		s.Next = &Following{d.Version, d.From}
	}
	for _, w := range m.Withdrawals {
		if w.Equipment.Concerns(machine, classes) {
			concerned = true
			s.Withdrawn = append(s.Withdrawn, Recall{w.Version, w.Orders})
		}
	}
	return s, concerned
}

// Encode gives the answer's bytes and their entity tag, which is strong: the same bytes have the same tag,
// on every container, and other bytes another.
func (p Poll) Encode() (body json.RawMessage, etag string, err error) {
	if body, err = json.Marshal(p); err != nil {
		return nil, "", fmt.Errorf("method: encode a poll: %w", err)
	}
	sum := sha256.Sum256(body)
	return body, `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`, nil
}
