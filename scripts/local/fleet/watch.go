package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/report"
)

// askEvery is a little more than the least time between two counts of a rollout.
const askEvery = 11 * time.Second

// A watch asks the service for the progress of the rollout on the fleet's channel.
type watch struct {
	url, channel string
	client       *http.Client
	token        func() (string, error)

	mu   sync.Mutex
	last census.Progress
	told time.Time // the last count in news
}

func newWatch(p plan, client *http.Client, issuers *devissuer.Issuers) *watch {
	return &watch{
		url: p.url, channel: "/api/ota/release-channels/" + p.edgeType + "/" + p.channel, client: client,
		token: func() (string, error) {
			return issuers.Token(devissuer.Claims{User: "fleet-viewer", Roles: []string{string(auth.PlatformViewer)}})
		},
	}
}

// run asks until the context ends. If an answer is missing, the previous one stays.
func (w *watch) run(ctx context.Context) {
	for sleep(ctx, askEvery) {
		if p, err := w.ask(ctx); err == nil {
			w.mu.Lock()
			w.last = p
			w.mu.Unlock()
		}
	}
}

// ask makes the service count the boxes of the active rollout. Without a rollout, it returns neither progress nor an
// error.
func (w *watch) ask(ctx context.Context) (p census.Progress, err error) {
	var channel struct{ ActiveRollout struct{ ID string } }
	if err = w.get(ctx, w.channel, &channel); err != nil || channel.ActiveRollout.ID == "" {
		return p, err
	}
	return p, w.get(ctx, "/api/ota/rollouts/"+channel.ActiveRollout.ID+"/progress?fresh=true", &p)
}

func (w *watch) get(ctx context.Context, path string, into any) error {
	token, err := w.token()
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := w.client.Do(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %.300s", res.StatusCode, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// states are in the order in which they are shown.
var states = []report.State{report.Offered, report.Working, report.Deferred, report.Installed, report.Failed, report.Reverted}

// lines shows the boxes' own states next to the service's counts; none without a rollout.
func (w *watch) lines(seen *tally) []string {
	w.mu.Lock()
	p := w.last
	w.mu.Unlock()
	if p.RolloutID == "" {
		return nil
	}
	theirs, ours := census.Total(p.Stages), seen.counts(p.RolloutID)
	said := map[report.State]int{
		report.Offered: theirs.Offered, report.Working: theirs.Working, report.Deferred: theirs.Deferred,
		report.Installed: theirs.Installed, report.Failed: theirs.Failed, report.Reverted: theirs.Reverted,
	}
	lines := []string{"", fmt.Sprintf("  the rollout at %d percent, %s ago: what the service says, and what the boxes know by now",
		p.StagedPercent, time.Since(p.AsOf).Round(time.Second))}
	for _, s := range states {
		lines = append(lines, fmt.Sprintf("  %-16s %7d %7d", s, said[s], ours[s]))
	}
	return append(lines, fmt.Sprintf("  %-16s %7d", "not yet polled", theirs.NotYetPolled), fmt.Sprintf("  %-16s %7d", "silent", p.Silent.Boxes))
}

// news returns the lines of a count that was not shown yet.
func (w *watch) news(seen *tally) []string {
	w.mu.Lock()
	fresh := w.last.AsOf.After(w.told)
	w.told = w.last.AsOf
	w.mu.Unlock()
	if !fresh {
		return nil
	}
	return w.lines(seen)[1:]
}
