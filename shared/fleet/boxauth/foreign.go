package boxauth

import (
	"context"
	"sync"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/setting"
	"wavegate/shared/trail/audit"
)

// Foreign verifies boxes' tokens of another form; see boxtoken.Foreign. Such a token names no box, so a stranger needs only a
// box's id to try tokens for it. A try costs one read, which may be slightly old. After ten wrong tokens for a box in an hour,
// a container reads nothing more for the box for an hour, unless the token is the one that the box had then. A weak token is
// refused then, too: it could be guessed.
type Foreign struct {
	tokens  *Tokens
	guessed Guessed

	mu    sync.Mutex
	wrong map[string]guesses // by box
}

// Guessed writes down that there were ten wrong tokens for a box. If it fails, the next wrong token tries again.
type Guessed func(ctx context.Context, from audit.Origin, edgeID string) error

// guesses are the wrong tokens for a box since the first of them.
type guesses struct {
	number int
	since  time.Time
	live   boxtoken.Live
}

// strangers are those who call for a box with wrong tokens.
const strangers = "urn:wavegate:strangers"

const (
	mostGuesses = 10
	guessesIn   = time.Hour
	// mostGuessed bounds the memory. When it is reached, all is forgotten.
	mostGuessed = 10_000
)

// ReadForeign makes a Foreign if the deployment takes such tokens; otherwise it is nil.
func ReadForeign(r *setting.Values, tokens *Tokens, guessed Guessed) *Foreign {
	if r.Text(setting.ForeignTokens) != "true" {
		return nil
	}
	return &Foreign{tokens: tokens, guessed: guessed, wrong: map[string]guesses{}}
}

// Enter is Tokens.Enter for a token of another form, in a call from somewhere.
func (f *Foreign) Enter(ctx context.Context, sourceIP, requestID string, t boxtoken.Token) (row report.Row, caller auth.Principal, err error) {
	if f.tired(t) {
		return report.Row{}, auth.Principal{}, nil
	}
	row, caller, err = f.tokens.Enter(ctx, t)
	if err == nil && caller.UserID == "" && row.Tokens.Exists() && f.count(row) {
		from := audit.Origin{Actor: audit.Actor{Issuer: strangers, UserID: row.EdgeID, Roles: []auth.Role{}}, SourceIP: sourceIP, RequestID: requestID}
		if f.guessed(ctx, from, row.EdgeID) != nil {
			f.forgive(row.EdgeID)
		}
	}
	return row, caller, err
}

// tired reports whether nobody asks for a box with this token now.
func (f *Foreign) tired(t boxtoken.Token) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	g, now := f.wrong[t.Subject], f.tokens.now()
	return g.number >= mostGuesses && now.Before(g.since.Add(guessesIn)) && (t.Weak || !g.live.Admits(t, now))
}

// count counts a wrong token for a box, and reports whether it is the last one that is read. From then on, the hour begins
// again.
func (f *Foreign) count(row report.Row) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	g, now := f.wrong[row.EdgeID], f.tokens.now()
	if !now.Before(g.since.Add(guessesIn)) {
		g = guesses{since: now}
	}
	g.number++
	g.live = row.Tokens
	if g.number == mostGuesses {
		g.since = now
	}
	if len(f.wrong) >= mostGuessed {
		clear(f.wrong)
	}
	f.wrong[row.EdgeID] = g
	return g.number == mostGuesses
}

// forgive takes back the last count.
func (f *Foreign) forgive(edgeID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if g, ok := f.wrong[edgeID]; ok && g.number > 0 {
		g.number--
		f.wrong[edgeID] = g
	}
}
