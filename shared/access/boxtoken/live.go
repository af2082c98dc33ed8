package boxtoken

import (
	"crypto/subtle"
	"time"
)

// Live are the hashes of the tokens of one box or gateway: the current one and, for a while, the previous one. So a
// running box keeps its token until it has the new one. The zero Live has no token.
type Live struct {
	Current  string `json:"current,omitempty" stored:"identity"`
	Previous string `json:"previous,omitempty"`
	// ReplacedAt is when Previous stopped being the current one.
	ReplacedAt *time.Time `json:"replacedAt,omitempty"`
	// FirstUsedAt is the first call with Current, or nil if there was none.
	FirstUsedAt *time.Time `json:"firstUsedAt,omitempty"`
	// EndedAt is when all tokens were ended. It is nil if they were not, or if there is a token again.
	EndedAt *time.Time `json:"endedAt,omitempty"`
	// LastUsedAt is the time of a call with either token. The latest call was less than noteEvery after it.
	LastUsedAt *time.Time `json:"lastUsedAt,omitempty"`
	// Weak is the one of the two hashes whose token may be weak, because somebody who registered the box said so.
	Weak string `json:"weak,omitempty"`
	// Waits is set if the gateway speaks for the box until the first call with Current.
	Waits bool `json:"waits,omitempty"`
}

const (
	// overlap is how long the previous token stays valid after the first call with the new one. patience is how long it
	// stays valid without such a call.
	overlap  = 24 * time.Hour
	patience = 30 * 24 * time.Hour
	// noteEvery limits how often a token's use is written.
	noteEvery = 24 * time.Hour
)

// Replace makes a hash the current one, and reports whether that changes anything. If the current token was used, it
// stays valid for a while. If it was not used, the box never had it: it becomes invalid, and the token before it stays.
func (l Live) Replace(sha256 string, at time.Time) (next Live, changed bool) {
	if sha256 == l.Current {
		return l, false
	}
	next = Live{Current: sha256, LastUsedAt: l.LastUsedAt}
	switch {
	case l.FirstUsedAt != nil:
		next.Previous, next.ReplacedAt = l.Current, &at
	case l.previousValid(at):
		next.Previous, next.ReplacedAt = l.Previous, l.ReplacedAt
	}
	if next.Previous == sha256 {
		next.Previous, next.ReplacedAt = "", nil
	}
	if next.Previous != "" && next.Previous == l.Weak {
		next.Weak = l.Weak
	}
	return next, true
}

// Admits reports whether a token is valid.
func (l Live) Admits(t Token, at time.Time) bool {
	return l.Accepts(t.SHA256, at) && (!t.Weak || t.SHA256 == l.Weak)
}

// Accepts reports whether the token with a hash is valid.
func (l Live) Accepts(sha256 string, at time.Time) bool {
	return matches(sha256, l.Current) || l.previousValid(at) && matches(sha256, l.Previous)
}

func (l Live) previousValid(at time.Time) bool {
	return l.Previous != "" && at.Before(l.ReplacedAt.Add(patience)) &&
		(l.FirstUsedAt == nil || at.Before(l.FirstUsedAt.Add(overlap)))
}

// Used returns the state after a call with a valid token. Nothing changes unless this is the first call with the
// current token, or the last recorded call is a day old.
func (l Live) Used(sha256 string, at time.Time) (next Live, changed bool) {
	if !l.Accepts(sha256, at) {
		return l, false
	}
	first := l.FirstUsedAt == nil && sha256 == l.Current
	if !first && l.LastUsedAt != nil && at.Sub(*l.LastUsedAt) < noteEvery {
		return l, false
	}
	if first {
		l.FirstUsedAt = &at
	}
	l.LastUsedAt = &at
	return l, true
}

// End ends all tokens.
func (l Live) End(at time.Time) Live { return Live{EndedAt: &at} }

// Never reports whether there never was a token.
func (l Live) Never() bool { return !l.Exists() && l.EndedAt == nil }

// Exists reports whether there is a token.
func (l Live) Exists() bool { return l.Current != "" }

// Speaks reports whether the box speaks for itself, so that no gateway does.
func (l Live) Speaks() bool { return l.Exists() && (!l.Waits || l.FirstUsedAt != nil) }

// matches compares two digests. An empty digest never matches.
func matches(shown, kept string) bool {
	return kept != "" && subtle.ConstantTimeCompare([]byte(shown), []byte(kept)) == 1
}
