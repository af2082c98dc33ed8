package method

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"wavegate/shared/platform/timestamp"
	"wavegate/shared/production/content"
	"wavegate/shared/production/machine"
)

// A PollAnswer is the answer to a machine's controller. For each method that concerns the machine, it says which
// version holds.
type PollAnswer struct {
	Items []MachineState `json:"items"`
	// PollIntervalSeconds is the time until the controller should poll again.
	PollIntervalSeconds int `json:"pollIntervalSeconds"`
	// Next is the path of the next page of a poll for all methods; missing on the last page.
	Next string `json:"next,omitempty"`
	// Last is the last method that was read, if more follow.
	Last string `json:"-"`
}

// A Phase is the status of a version that holds.
type Phase string

// Phases.
const (
	OnTrial    Phase = "trial"
	IsReleased Phase = "released"
)

// A MachineState is the state of a method on a machine at a time. If no version for the machine
// holds, the fields from version to effectiveFrom are missing.
type MachineState struct {
	MethodID      string     `json:"methodId"`
	Version       int64      `json:"version,omitempty"`
	WorkMasterID  string     `json:"workMasterId,omitempty"`
	Phase         Phase      `json:"phase,omitempty"`
	ContentSHA256 string     `json:"contentSha256,omitempty"`
	Content       string     `json:"content,omitempty"` // the path of the content
	EffectiveFrom *time.Time `json:"effectiveFrom,omitempty"`
	// Steps are the ids of the steps that the machine does, and Classes those of its classes by which it does them. Both are
	// missing if the content cannot be read.
	Steps   []string `json:"steps,omitempty"`
	Classes []string `json:"classes,omitempty"`
	// TrailSHA256 is a hash that the controller stores with what it produces; see package chain.
	TrailSHA256 string `json:"trailSha256,omitempty"`
	// Next is the version that takes over next. A controller can fetch it in advance and switch
	// without a connection.
	Next *NextVersion `json:"next,omitempty"`
	// Withdrawn lists the withdrawn versions, the newest first, with what to do with their orders.
	Withdrawn []WithdrawnVersion `json:"withdrawn"`
}

// A NextVersion is the version that takes over at a time.
type NextVersion struct {
	Version       int64     `json:"version"`
	WorkMasterID  string    `json:"workMasterId"`
	Phase         Phase     `json:"phase"`
	ContentSHA256 string    `json:"contentSha256"`
	Content       string    `json:"content"` // the path of the content
	From          time.Time `json:"from"`
	Steps         []string  `json:"steps,omitempty"`
	Classes       []string  `json:"classes,omitempty"`
}

// A WithdrawnVersion tells a controller about a withdrawn version.
type WithdrawnVersion struct {
	Version int64  `json:"version"`
	Orders  Orders `json:"orders"`
}

// On returns the state of a method on a machine at a time, and whether the method concerns the
// machine. It does if a version that holds or follows covers it, or if it could have a withdrawn
// one. href makes the paths of contents, and route lists the steps of a content that machines do.
func (m Method) On(x machine.Machine, t time.Time, href func(version int64) string, route func(sha256 string) []content.Stop) (MachineState, bool) {
	s := MachineState{MethodID: m.MethodID, TrailSHA256: m.TrailSHA256, Withdrawn: []WithdrawnVersion{}}
	concerned := false
	covers := func(d Decision) bool { return m.covers(x, d) }
	if d, ok := m.Effectivity.At(x.Code, t); ok && covers(d) {
		concerned = true
		s.Version, s.WorkMasterID, s.ContentSHA256 = d.Version, WorkMasterID(m.MethodID, d.Version), d.ContentSHA256
		s.Content, s.EffectiveFrom, s.Phase = href(d.Version), &d.From, d.phase()
		s.Steps, s.Classes = m.stepsOf(x, d, route)
	}
	if d, ok := m.Effectivity.Next(x.Code, t); ok && (concerned || covers(d)) {
		concerned = true
		s.Next = &NextVersion{Version: d.Version, WorkMasterID: WorkMasterID(m.MethodID, d.Version), Phase: d.phase(), ContentSHA256: d.ContentSHA256,
			Content: href(d.Version), From: d.From}
		s.Next.Steps, s.Next.Classes = m.stepsOf(x, d, route)
	}
	for _, w := range m.Withdrawals {
		if m.concerns(w.Version, x) {
			concerned = true
			s.Withdrawn = append(s.Withdrawn, WithdrawnVersion{w.Version, w.Orders})
		}
	}
	return s, concerned
}

// stepsOf returns the steps of a decision's version that a machine does, and the classes by which it does them: those for which it
// is covered.
func (m Method) stepsOf(x machine.Machine, d Decision, route func(sha256 string) []content.Stop) (steps, classes []string) {
	for _, s := range route(d.ContentSHA256) {
		byClass := s.Class != "" && slices.Contains(x.Classes, s.Class) && m.signedFor(x, s.Class, d)
		if byClass && !slices.Contains(classes, s.Class) {
			classes = append(classes, s.Class)
		}
		if byClass || slices.Contains(s.Machines, x.Code) {
			steps = append(steps, s.ID)
		}
	}
	return steps, classes
}

// recent is how long after a change of a method its machines poll often.
const recent = 10 * time.Minute

// busy reports whether machines should poll often: the method changed a short time ago, has a version
// on trial, or another version takes over before an idle machine would poll again.
func (m Method) busy(t time.Time, idle time.Duration) bool {
	return t.Sub(m.changedAt()) < recent || slices.ContainsFunc(m.Effectivity, func(d Decision) bool {
		return !d.everywhere() || d.From.After(t) && d.From.Sub(t) < 2*idle
	})
}

// Encode returns the answer's bytes and their entity tag. The tag is strong: on every container,
// equal bytes have equal tags, and different bytes have different tags.
func (p PollAnswer) Encode() (body json.RawMessage, etag string, err error) {
	if body, err = timestamp.JSON(p); err != nil {
		return nil, "", fmt.Errorf("method: encode a poll: %w", err)
	}
	return body, tagOf(body), nil
}

// tagOf is the entity tag of an answer's bytes.
func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}
