package box

import (
	"net/http"
	"time"
)

// A doorway chooses between the API and the door, where a call costs the service less.
type doorway struct {
	missed int       // calls in a row that the door did not answer
	away   time.Time // until when the client stays at the API
}

// mostMissed is after how many calls without an answer in a row the client goes to the API.
const mostMissed = 2

// base is the URL of the box's calls: the door's, unless it did not answer lately.
func (c *Client) base(s *State) string {
	if s.told.Door == "" || time.Now().Before(c.doorway.away) {
		return c.API
	}
	return s.told.Door
}

// called notes how a call ended. A full door has no answer, a door that is gone none at all, and one that does not take the
// token has no better one than the API.
func (c *Client) called(base string, call Call) {
	answered := call.Status/100 < 5 && call.Status != 0 && call.Status != http.StatusUnauthorized && call.Status != http.StatusTooManyRequests
	if base == c.API || answered {
		c.doorway.missed = 0
		return
	}
	if c.doorway.missed++; c.doorway.missed >= mostMissed {
		away := c.Timing.Fallback
		if away == 0 {
			away = DefaultTiming.Fallback
		}
		c.doorway = doorway{away: time.Now().Add(away)}
	}
}
