package command

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"wavegate/scripts/operator/api"
)

// A memory keeps what was seen of a service between runs. Losing it is harmless.
type memory struct {
	// Active are the rollouts that were seen active, by channel. A halt uses them if the service refuses all other
	// calls.
	Active map[string]api.RunningRollout `json:"active"`
	// Channels are the names for completion, as of At.
	Channels []string  `json:"channels"`
	At       time.Time `json:"at"`
}

func (a *app) memoryFile(c *api.Client) string {
	return filepath.Join(a.Cache, "seen-"+url.QueryEscape(c.URL)+".json")
}

func (a *app) recall(c *api.Client) memory {
	m := memory{}
	if text, err := os.ReadFile(a.memoryFile(c)); err == nil && json.Unmarshal(text, &m) != nil {
		m = memory{} // it starts empty
	}
	if m.Active == nil {
		m.Active = map[string]api.RunningRollout{}
	}
	return m
}

func (a *app) keep(c *api.Client, m memory) {
	text, err := json.Marshal(m)
	if err != nil || os.MkdirAll(a.Cache, 0o700) != nil {
		return
	}
	file, err := os.CreateTemp(a.Cache, "seen.*")
	if err != nil {
		return
	}
	defer func() { _ = os.Remove(file.Name()) }() // usually it was renamed
	if _, err = file.Write(text); file.Close() == nil && err == nil {
		_ = os.Rename(file.Name(), a.memoryFile(c)) // losing it is harmless
	}
}

// saw remembers the state of channels.
func (a *app) saw(c *api.Client, channels ...api.Channel) {
	m := a.recall(c)
	for _, one := range channels {
		if one.ActiveRollout == nil {
			delete(m.Active, one.ID())
		} else {
			m.Active[one.ID()] = *one.ActiveRollout
		}
	}
	a.keep(c, m)
}

// lasts is how long the names of channels are used before they are read again.
const lasts = time.Minute

// channelNames returns the names of the first channels, at most a minute old; none if they cannot be read.
func (a *app) channelNames(ctx context.Context, c *api.Client) []string {
	m := a.recall(c)
	if time.Since(m.At) <= lasts {
		return m.Channels
	}
	list, _, err := api.Get[struct{ Items []api.Channel }](ctx, c, "/api/ota/release-channels", url.Values{"limit": {"100"}})
	if err != nil {
		return nil
	}
	m.At, m.Channels = time.Now(), nil
	for _, one := range list.Items {
		m.Channels = append(m.Channels, one.ID())
	}
	a.keep(c, m)
	return m.Channels
}

// forgetNames makes the names of channels be read again, because there is a new one.
func (a *app) forgetNames(c *api.Client) {
	m := a.recall(c)
	m.At = time.Time{}
	a.keep(c, m)
}
