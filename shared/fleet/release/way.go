package release

import (
	"slices"
	"strconv"
	"time"

	"wavegate/shared/platform/problem"
)

// MostStones is how many releases a box has to run before another one, at most.
const MostStones = 8

// A Stone is a release that a box has to run before another one.
type Stone struct {
	Version string `json:"version" stored:"identity"`
	Order   int64  `json:"order"`
}

// A Way lists the stones of a release, the nearest first. Their orders decrease. Neither ever changes, so that copies of a
// way stay true.
type Way []Stone

// A Path is the way of a version in the row of a channel.
type Path struct {
	Version string `json:"version" stored:"identity"`
	Way     Way    `json:"way"`
}

// Order is the order of a stone of the way; 0: the version is none.
func (w Way) Order(version string) int64 {
	for _, s := range w {
		if s.Version == version {
			return s.Order
		}
	}
	return 0
}

// Next is the stone that a box is told next which runs a release of an order; false: it has passed all.
func (w Way) Next(order int64) (next Stone, is bool) {
	for _, s := range w {
		if s.Order <= order {
			break
		}
		next, is = s, true
	}
	return next, is
}

// Onward is the way of a release that requires this one.
func (r Release) Onward() Way {
	if r.Version == "" {
		return nil
	}
	return append(Way{{r.Version, r.Rank()}}, r.Way...)
}

// Ordered returns a publication with an order, if it says none and would not be above the stone that it requires: both were
// published in the same second, or a clock is behind. It is then the next one.
func (r Release) Ordered(p Publication, stone Release, at time.Time) Publication {
	if r.SHA256 == "" && p.Order == 0 && stone.Version != "" && stone.Rank() >= at.Unix() {
		p.Order = stone.Rank() + 1
	}
	return p
}

// MayRequire reports why a version that may have been published before cannot require a stone: RELEASE_NOT_PUBLISHED,
// REQUIRES_CYCLE, RELEASE_IMMUTABLE, or VALIDATION_FAILED if the stone is not older. The stone has no version if it was
// never published.
func (r Release) MayRequire(p Publication, stone Release, at time.Time) error {
	next := r.Published(p, nil, at)
	switch {
	case p.Requires == "":
		return nil
	case stone.Version == "" && p.Requires != p.CurrentVersion:
		return problem.New(problem.ReleaseNotPublished, "Version %s of %s, which %s requires, was never published.", p.Requires, p.EdgeType, p.CurrentVersion)
	case p.Requires == p.CurrentVersion || stone.Way.Order(p.CurrentVersion) > 0:
		return problem.New(problem.RequiresCycle, "Version %s would require itself.", p.CurrentVersion)
	case len(stone.Way) >= MostStones:
		return problem.New(problem.RequiresCycle, "A box would have to run more than %d releases before %s.", MostStones, p.CurrentVersion)
	case next.Requires != p.Requires:
		return problem.New(problem.ReleaseImmutable, "Version %s of %s was published with another requires, or without one. A version keeps it; publish a new version.",
			p.CurrentVersion, p.EdgeType)
	case r.SHA256 == "" && stone.Rank() >= next.Rank():
		return problem.Invalid([]problem.Fault{{Pointer: "/requires", Code: "range", Detail: "must be a release of a lower order: " +
			stone.Version + " has " + strconv.FormatInt(stone.Rank(), 10) + ", and this one " + strconv.FormatInt(next.Rank(), 10)}})
	}
	return nil
}

// Way is the way of a version that the row tells boxes, or has told them.
func (r ChannelRow) Way(version string) Way {
	for _, p := range r.Ways {
		if p.Version == version {
			return p.Way
		}
	}
	return nil
}

// Showing returns the row with the way of a release that it now tells boxes. It forgets those of versions that it no
// longer tells.
func (r ChannelRow) Showing(is Release) ChannelRow {
	told := []string{r.CurrentVersion}
	for _, t := range r.Remembered() {
		told = append(told, t.Version)
	}
	for _, k := range r.Kept {
		told = append(told, k.Version)
	}
	r.Ways = slices.DeleteFunc(slices.Clone(r.Ways), func(p Path) bool { return p.Version == is.Version || !slices.Contains(told, p.Version) })
	if len(is.Way) > 0 {
		r.Ways = append(r.Ways, Path{is.Version, is.Way})
	}
	return r
}

// IsStone reports whether a version is a stone of one that the row tells boxes.
func (r ChannelRow) IsStone(version string) bool {
	return slices.ContainsFunc(r.Ways, func(p Path) bool { return p.Way.Order(version) > 0 })
}
