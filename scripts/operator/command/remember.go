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

// A memory is what was seen of a service, kept between runs. It can be lost.
type memory struct {
	// Active are the rollouts that were seen active, by channel. A halt goes by them where the service lets
	// nothing else through.
	Active map[string]api.RunningRollout `json:"active"`
	// Channels are those that are offered for completion, as of At.
	Channels []string  `json:"channels"`
	At       time.Time `json:"at"`
}

func (a *app) memoryFile(c *api.Client) string {
	return filepath.Join(a.Cache, "seen-"+url.QueryEscape(c.URL)+".json")
}

func (a *app) recall(c *api.Client) memory {
	m := memory{}
	if text, err := os.ReadFile(a.memoryFile(c)); err == nil && json.Unmarshal(text, &m) != nil {
		m = memory{} // it is written from scratch
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
	defer func() { _ = os.Remove(file.Name()) }() // it was renamed, as a rule
	if _, err = file.Write(text); file.Close() == nil && err == nil {
		_ = os.Rename(file.Name(), a.memoryFile(c)) // it can be lost
	}
}

// saw remembers what a channel showed.
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

// lasts is how long the names of channels are offered before they are read again.
const lasts = time.Minute

// channelNames are the names of the first channels, as of a minute ago at most; none if they cannot be read.
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

// forgetNames has the names of channels read again, since there is a new one.
func (a *app) forgetNames(c *api.Client) {
	m := a.recall(c)
	m.At = time.Time{}
	a.keep(c, m)
}
