package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"wavegate/shared/platform/dynamo"
)

// List returns channels in the byte order of their edge types, then of their names; only those of an edge type if
// edgeType is not empty. The channels of one edge type are up to date. The list of all channels is read from a global
// index, so a change shows after a moment, usually within a second.
//
// While someone pages, a new channel shifts those after it by one. Channels are never removed.
func (s *Store) List(ctx context.Context, edgeType string, w dynamo.Span) (dynamo.Page[View], error) {
	all := dynamo.Selection{Table: dynamo.Channels, Index: "all", Partition: listAll}
	if edgeType != "" {
		all = dynamo.Selection{Table: dynamo.Channels, Partition: edgeType}
	}
	rows, err := dynamo.List[ChannelRow](ctx, s.db, all, w)
	page := dynamo.Page[View]{More: rows.More, Last: rows.Last}
	for _, row := range rows.Items {
		page.Items = append(page.Items, row.View())
	}
	return page, err
}

// A Published is a release as callers see it: what was ever published under a version of an edge type.
type Published struct {
	EdgeType    string `json:"edgeType"`
	Version     string `json:"version"`
	ArtifactURL string `json:"artifactUrl"`
	SHA256      string `json:"sha256"`
	Details
	Delivery
	Urgency
	Lineage
	Saying
	PublishedAt time.Time `json:"publishedAt"` // first, on any channel
}

// Shown is what callers see of the release and of what is said of it.
func (r Release) Shown(is Saying) Published {
	r.Order = r.Rank()
	return Published{r.EdgeType, r.Version, r.ArtifactURL, r.SHA256, r.Details, r.Delivery, r.Urgency, r.Lineage, is, r.PublishedAt}
}

// place sorts releases from the highest order to the lowest, then by version.
func (p Published) place() string { return fmt.Sprintf("%020d/%s", int64(1<<62)-p.Order, p.Version) }

// Published returns the releases of an edge type, the highest order first. It reads all of them.
func (s *Store) Published(ctx context.Context, edgeType string, w dynamo.Span) (page dynamo.Page[Published], err error) {
	var all []Published
	said := map[string]Saying{}
	err = dynamo.Together(ctx,
		func(ctx context.Context) error {
			return s.Each(ctx, edgeType, func(r Release) { all = append(all, r.Shown(Saying{})) })
		},
		func(ctx context.Context) (err error) { said, err = s.SaidOf(ctx, edgeType); return err })
	for i := range all {
		all[i].Saying = said[all[i].Version]
	}
	slices.SortFunc(all, func(a, b Published) int { return cmp.Compare(a.place(), b.place()) })
	all = slices.DeleteFunc(all, func(p Published) bool { return w.After != "" && strings.Compare(p.place(), w.After) <= 0 })
	all = all[min(w.Skip, len(all)):]
	page.Items = all[:min(w.Limit, len(all))]
	if page.More = len(all) > w.Limit; page.More {
		page.Last = page.Items[w.Limit-1].place()
	}
	return page, err
}
