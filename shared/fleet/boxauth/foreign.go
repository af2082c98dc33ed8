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
	wrong map[boxtoken.Token]guesses // see triedFor
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
	return &Foreign{tokens: tokens, guessed: guessed, wrong: map[boxtoken.Token]guesses{}}
}

// Enter is Tokens.Enter for a token of another form, in a call from somewhere. The token may be that of the gateway of the box's
// organization.
func (f *Foreign) Enter(ctx context.Context, sourceIP, requestID string, t boxtoken.Token) (row report.Row, caller auth.Principal, err error) {
	if f.tired(t) {
		return report.Row{}, auth.Principal{}, nil
	}
	var live boxtoken.Live
	if row, caller, live, err = f.look(ctx, t); err == nil && caller.UserID == "" && live.Exists() && f.count(t, live) {
		from := audit.Origin{Actor: audit.Actor{Issuer: strangers, UserID: row.EdgeID, Roles: []auth.Role{}}, SourceIP: sourceIP, RequestID: requestID}
		if f.guessed(ctx, from, row.EdgeID) != nil {
			f.forgive(t)
		}
	}
	return row, caller, err
}

// look reads whose token it is, and what the service knows of the token for which it was tried.
func (f *Foreign) look(ctx context.Context, t boxtoken.Token) (row report.Row, caller auth.Principal, live boxtoken.Live, err error) {
	if row, caller, err = f.tokens.Enter(ctx, t); err != nil || t.Kind != boxtoken.Gateway {
		return row, caller, row.Tokens, err
	}
	g, err := f.tokens.gateways.get(ctx, row.OrganizationID)
	caller = auth.Principal{}
	if g.Tokens.Admits(t, f.tokens.now()) {
		t.Subject = row.OrganizationID
		caller = t.Principal(row.OrganizationID, "")
	}
	return row, caller, g.Tokens, err
}

// tired reports whether nobody asks for a box with this token now.
func (f *Foreign) tired(t boxtoken.Token) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	g, now := f.wrong[triedFor(t)], f.tokens.now()
	return g.number >= mostGuesses && now.Before(g.since.Add(guessesIn)) && (t.Weak || !g.live.Admits(t, now))
}

// triedFor is for what tokens are tried: those of a box, or of the gateway for it.
func triedFor(t boxtoken.Token) boxtoken.Token {
	return boxtoken.Token{Kind: t.Kind, Subject: t.Subject}
}

// count counts a wrong token for a box, and reports whether it is the last one that is read. From then on, the hour begins
// again.
func (f *Foreign) count(t boxtoken.Token, live boxtoken.Live) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	g, now := f.wrong[triedFor(t)], f.tokens.now()
	if !now.Before(g.since.Add(guessesIn)) {
		g = guesses{since: now}
	}
	g.number++
	g.live = live
	if g.number == mostGuesses {
		g.since = now
	}
	if len(f.wrong) >= mostGuessed {
		clear(f.wrong)
	}
	f.wrong[triedFor(t)] = g
	return g.number == mostGuesses
}

// forgive takes back the last count.
func (f *Foreign) forgive(t boxtoken.Token) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if g, ok := f.wrong[triedFor(t)]; ok && g.number > 0 {
		g.number--
		f.wrong[triedFor(t)] = g
	}
}
