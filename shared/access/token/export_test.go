package token

import "time"

// SetFetchTimeout shortens the wait for issuers that do not answer.
func SetFetchTimeout(v *Verifier, d time.Duration) {
	for _, i := range v.issuers {
		if c, ok := i.keys.(*keyCache); ok {
			c.timeout = d
		}
	}
}
