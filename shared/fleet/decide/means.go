package decide

import (
	"context"
	"slices"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
)

// Means is what a box means by a text for what it runs: the name of a release, or else the text itself. A text that has not
// changed means what it meant before. Otherwise, in order:
//
//  1. A release's name means that release.
//  2. A text that the box said before it was told something is not another word for that.
//  3. A label means the only release that is like it, of those that the box may have been told: see report.Row.MayMean and
//     release.ChannelRow.Targets. Another build is another version, unless builds are ignored, or the box was told a release
//     without one: then it has that release, by which a good one is not halted.
func Means(ctx context.Context, box report.Row, text string, from Sources) (string, error) {
	told := box.MayMean()
	switch {
	case text == "" || slices.Contains(told, text):
		return text, nil
	case text == box.Says():
		return box.Running, nil
	}
	row, err := from.Row(ctx, box.EdgeType, box.Channel, "")
	if err != nil {
		return "", err
	}
	names := slices.Clone(told)
	for _, t := range row.Targets() {
		names = append(names, t.Version)
	}
	name, needs := report.Meant(text, names)
	if name == "" || slices.Contains(names, text) || box.Offer != nil && box.Offer.From == text {
		return text, nil
	}
	if needs == report.IgnoreBuild && (report.HasBuild(name) || !slices.Contains(told, name)) {
		if of, err := from.Settings(ctx, box.EdgeType); err != nil || of.VersionForm != report.IgnoreBuild {
			return text, err
		}
	}
	if !release.VersionRule.Accepts(text) {
		return name, nil
	}
	if is, err := from.Release(ctx, box.EdgeType, text); err != nil || is.Version != "" {
		return text, err
	}
	return name, nil
}
