package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"wavegate/scripts/operator/api"
	"wavegate/shared/fleet/cohort"
)

// A view is what is known of a rollout at one moment.
type view struct {
	rollout  api.Rollout
	document []byte // of its progress; nil: there was no count yet
	progress api.Progress
	tag      string // of the rollout
}

// look reads a rollout and its progress. With the entity tag of the last look, the rollout is sent only if it
// has changed; see again. With fresh "true" its boxes are counted again, if they were not in the last 10 seconds.
func look(ctx context.Context, c *api.Client, id, tag string, fresh ...string) (v view, err error) {
	a, err := c.Do(ctx, api.Request{Method: http.MethodGet, Path: api.RolloutPath(id), IfNoneMatch: tag})
	if err != nil {
		return v, err
	}
	v.tag = tag
	if a.Status != http.StatusNotModified {
		v.tag = a.Header.Get("ETag")
		if err := a.Into(&v.rollout); err != nil {
			return v, err
		}
	}
	v.progress, a, err = api.Get[api.Progress](ctx, c, api.RolloutPath(id)+"/progress", url.Values{"fresh": fresh})
	if r, ok := errors.AsType[*api.RefusedError](err); ok && r.Status == http.StatusNotFound {
		return v, nil // it was not counted yet
	}
	v.document = a.Body
	return v, err
}

// again looks once more. What has not changed is kept. A count of another stage than the present one is not waited
// for: it is taken again.
func (v view) again(ctx context.Context, c *api.Client) (view, error) {
	var fresh []string
	if v.rollout.Status == "active" && v.progress.StagedPercent != v.rollout.StagedPercent {
		fresh = []string{"true"}
	}
	next, err := look(ctx, c, v.rollout.ID, v.tag, fresh...)
	if err != nil {
		return v, err
	}
	if next.tag == v.tag {
		next.rollout = v.rollout
	}
	if next.document == nil {
		next.document, next.progress = v.document, v.progress
	}
	return next, nil
}

// A paint marks text that should be seen; it is empty where no colour is wanted.
type paint struct{ bad, strong, end string }

func (a *app) paint() paint {
	if a.noColor || a.plain || !a.Draws {
		return paint{}
	}
	return paint{bad: "\x1b[31m", strong: "\x1b[1m", end: "\x1b[0m"}
}

// block shows the whole view, a line a stage.
func (v view) block(p paint) string {
	var b strings.Builder
	r := v.rollout
	fmt.Fprintf(&b, "%s%s/%s  %s → %s%s  %s\n", p.strong, r.EdgeType, r.Channel, r.PreviousVersion, r.TargetVersion, p.end, v.standing(time.Now()))
	if v.document == nil {
		b.WriteString("its boxes were not counted yet; they are once a minute\n")
		return b.String()
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "stage\tboxes\tinstalled\ton its way\tfailed\treverted\tnot polled\t")
	for _, s := range v.progress.Stages {
		if s.Percent > v.progress.StagedPercent {
			fmt.Fprintf(w, "%d %%\t%d\t\t\t\t\t\t\n", s.Percent, s.Expected)
			continue
		}
		fmt.Fprintf(w, "%d %%\t%d\t%d\t%d\t%d\t%d\t%d\t\n", s.Percent, s.Expected, s.Installed, s.OnItsWay(), s.Failed, s.Reverted, s.NotYetPolled)
	}
	_ = w.Flush() // a builder takes everything
	if bad := v.total().Bad(); bad > 0 {
		fmt.Fprintf(&b, "%sbad       %d: %s%s\n", p.bad, bad, v.reasons(), p.end)
	}
	fmt.Fprintf(&b, "silent    %d of %d\n", v.progress.Silent.Boxes, v.progress.Silent.Of)
	if g := v.progress.Guard; g != nil && g.Sentence != "" {
		fmt.Fprintf(&b, "guard     %s\n", printable(g.Sentence))
	}
	if next := cohort.After(r.StagedPercent); r.Status == "active" && next != 0 {
		fmt.Fprintf(&b, "next      %d %% (+%d)\n", next, v.more(next))
	}
	return b.String()
}

// standing says where the rollout is, and how old the counts are.
func (v view) standing(now time.Time) string {
	r := v.rollout
	text := fmt.Sprintf("at %d %%, %s%s since %s", r.StagedPercent, r.Status, byWhat(r), clock(r.UpdatedAt))
	if v.steeredByPeople() {
		text += ", no guard"
	}
	if v.document != nil {
		text += fmt.Sprintf("  counted %s ago", now.Sub(v.progress.AsOf).Round(time.Second))
	}
	return text
}

// line is the view on one line, without what changes by itself, for where nothing can be redrawn.
func (v view) line() string {
	r := v.rollout
	text := fmt.Sprintf("%s/%s %s → %s at %d %%, %s%s", r.EdgeType, r.Channel, r.PreviousVersion, r.TargetVersion, r.StagedPercent, r.Status, byWhat(r))
	if v.document != nil {
		s := v.total()
		text += fmt.Sprintf(": %d of %d installed, %d on its way, %d failed, %d reverted, %d not polled, %d silent",
			s.Installed, s.Expected, s.OnItsWay(), s.Failed, s.Reverted, s.NotYetPolled, v.progress.Silent.Boxes)
	}
	if says := v.guardSays(); says != "" {
		text += "." + says
	}
	return text
}

// total adds up the stages that the rollout has reached.
func (v view) total() (sum api.StageProgress) {
	for _, s := range v.progress.Stages {
		if s.Percent <= v.progress.StagedPercent {
			sum.Expected += s.Expected
			sum.NotYetPolled += s.NotYetPolled
			sum.Offered += s.Offered
			sum.Working += s.Working
			sum.Deferred += s.Deferred
			sum.Installed += s.Installed
			sum.Failed += s.Failed
			sum.Reverted += s.Reverted
		}
	}
	return sum
}

// more counts the boxes that a stage adds to those that are reached.
func (v view) more(stage int) (n int) {
	for _, s := range v.progress.Stages {
		if s.Percent > v.rollout.StagedPercent && s.Percent <= stage {
			n += s.Expected
		}
	}
	return n
}

// reasons lists why boxes failed, the most frequent reasons first.
func (v view) reasons() string {
	var list []string
	for _, code := range byCount(v.progress.Failures) {
		list = append(list, fmt.Sprintf("%s %d", printable(code), v.progress.Failures[code]))
	}
	if n := v.total().Reverted; n > 0 {
		list = append(list, fmt.Sprintf("reverted %d", n))
	}
	return strings.Join(list, ", ")
}
