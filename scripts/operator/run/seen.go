package run

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/release"
)

// A Memory keeps what was seen of a service between runs. Losing it is harmless.
type Memory struct {
	// Active are the rollouts that were seen active, by channel. A halt uses them if the service refuses all other
	// calls.
	Active map[string]release.ActiveRollout `json:"active"`
	// Channels are the names for completion, as of At.
	Channels []string  `json:"channels"`
	At       time.Time `json:"at"`
}

func (c *Call) memoryFile() string { return "seen-" + url.QueryEscape(c.URL) + ".json" }

// Recall returns what was seen.
func (c *Call) Recall() (m Memory) {
	if c.Cached().Read(c.memoryFile(), &m) != nil {
		m = Memory{} // it starts empty
	}
	if m.Active == nil {
		m.Active = map[string]release.ActiveRollout{}
	}
	return m
}

func (c *Call) keep(m Memory) {
	_ = c.Cached().Write(c.memoryFile(), m) // losing it is harmless
}

// Saw remembers the state of channels.
func (c *Call) Saw(channels ...release.View) {
	m := c.Recall()
	for _, one := range channels {
		if one.ActiveRollout == nil {
			delete(m.Active, one.ID())
		} else {
			m.Active[one.ID()] = *one.ActiveRollout
		}
	}
	c.keep(m)
}

// ForgetNames makes the names of channels be read again, because there is a new one.
func (c *Call) ForgetNames() {
	m := c.Recall()
	m.At = time.Time{}
	c.keep(m)
}

// lasts is how long the names of channels are used before they are read again.
const lasts = time.Minute

// ChannelNames returns the names of the first channels, at most a minute old; none if they cannot be read.
func (c *Call) ChannelNames(ctx context.Context) []string {
	m := c.Recall()
	if time.Since(m.At) <= lasts {
		return m.Channels
	}
	list, err := api.All[release.View](ctx, c.Client, "/api/ota/release-channels", nil, 100)
	if err != nil {
		return nil
	}
	m.At, m.Channels = time.Now(), nil
	for _, one := range list {
		m.Channels = append(m.Channels, one.ID())
	}
	c.keep(m)
	return m.Channels
}

// states are the states that a box can have in a rollout.
var states = []string{"offered", "working", "deferred", "installed", "failed", "reverted"}

// listed are the lists with the names of things, by the words in capitals for them.
var listed = map[string]struct{ path, field string }{
	"FACTORY": {"/api/factories", "factoryId"},
	"MACHINE": {"/api/factories/%s/machines", "code"},
	"METHOD":  {"/api/factories/%s/production-methods", "methodId"},
}

// Names returns names for a word in capitals, such as CHANNEL: those of things within the named ones. Of the many boxes,
// it returns some that begin with a prefix.
func (c *Call) Names(ctx context.Context, word string, within []string, prefix string) []string {
	switch word {
	case "CHANNEL":
		return c.ChannelNames(ctx)
	case "STATE":
		return slices.Clone(states)
	case "BOX":
		return c.boxNames(ctx, prefix)
	}
	if l, is := listed[word]; is {
		return c.namesIn(ctx, api.Path(l.path, within...), nil, l.field)
	}
	return nil
}

// boxNames returns some boxes with ids that begin with prefix.
func (c *Call) boxNames(ctx context.Context, prefix string) []string {
	return c.namesIn(ctx, "/api/edges", Query("idPrefix", prefix), "edgeId")
}

// namesIn returns the names on the first page of a list; none if it cannot be read.
func (c *Call) namesIn(ctx context.Context, path string, query url.Values, field string) (names []string) {
	items, _ := api.All[map[string]any](ctx, c.Client, path, query, 100) // names are only a help
	for _, item := range items {
		if name, ok := item[field].(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// Near offers names that are similar to one that does not exist.
func (c *Call) Near(ctx context.Context, word string, names []string) string {
	wrong := names[len(names)-1]
	for _, prefix := range []string{wrong[:(len(wrong)+1)/2], wrong[:1]} {
		if more := terminal.DidYouMean(wrong, c.Names(ctx, word, names, prefix)); more != "" || word != "BOX" {
			return more
		}
	}
	return c.containing(ctx, wrong)
}

// containing offers boxes with ids that contain a text, because people read out a part of an id.
func (c *Call) containing(ctx context.Context, part string) string {
	ids := c.namesIn(ctx, "/api/edges", Query("idPart", part), "edgeId")
	if len(ids) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(ids[:min(len(ids), 3)], " or ") + "?"
}
