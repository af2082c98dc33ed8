package auth

import (
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// Fresh refuses a signature of a person who signed in longer ago than the setting, or whose token does not say when. What stops
// something needs no fresh sign-in.
func (p Principal) Fresh(settings *setting.Values, now time.Time) error {
	most := time.Duration(settings.Number(setting.SignatureMaxAgeSeconds)) * time.Second
	var refusal *problem.Error
	switch age := now.Sub(p.AuthenticatedAt); {
	case most == 0:
		return nil
	case p.AuthenticatedAt.IsZero():
		refusal = problem.New(problem.SignInAgain, "A signature needs a sign-in at most %s ago, and the tokens of %s do not say when a person signed in. "+
			"Its administrator has to add the claim auth_time to access tokens.", most, p.Issuer)
	case age > most:
		refusal = problem.New(problem.SignInAgain, "You signed in %s ago, and a signature needs a sign-in at most %s ago. Sign in again, and sign then.",
			age.Truncate(time.Second), most)
	default:
		return nil
	}
	refusal.MaxAge = most
	return refusal
}
