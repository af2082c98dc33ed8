package dossier

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/artifacts"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/production/factory"
)

// Commands are all of them.
func Commands(r *run.Run) []*cobra.Command {
	made := makes(r)
	made.AddCommand(verifies(r))
	return []*cobra.Command{made}
}

func makes(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "dossier TYPE VERSION|ADVISORY", Short: "Write a file that says who got a release, for those who ask",
		Long: "Writes a file that says, of one release: its digests, its SBOM and other documents, its advisories, when it was published and by whom, how many boxes of each " +
			"organization were told it, ran it and run it now, when the first, half, 95 percent and all of them ran it, and which boxes of its " +
			"channels do not run it, are overdue, or are of a plant that opted out. For the name of an advisory, as CVE-2026-1234, it says this of the version that fixes it, which versions " +
			"are affected, as wavegate releases describe has said, and how many boxes ran these. wavegate dossier verify checks the file without the service.\n\n" +
			"The file is consistent in itself. Whoever makes one can make another: to prove later that it is this one, give its " +
			"SHA-256, which the command prints, to somebody else to keep.",
		Example: "wavegate dossier gateway-x 1.1.0 --out gateway-x-1.1.0.zip\nwavegate dossier verify gateway-x-1.1.0.zip",
	}
	out := cmd.Flags().String("out", "", "the `file` to write")
	run.Required(cmd, "out")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		file, err := collect(ctx, c, c.Args[0], c.Args[1])
		if err == nil {
			err = os.WriteFile(*out, file, 0o600)
		}
		if err != nil {
			return err
		}
		return tell(c.Run, *out, file)
	})
}

func verifies(r *run.Run) *cobra.Command {
	return r.Local(&cobra.Command{
		Use: "verify FILE", Short: "Check such a file, without the service", Example: "wavegate dossier verify gateway-x-1.1.0.zip",
	}, func(_ context.Context, args []string) error {
		file, err := os.ReadFile(args[0])
		if err != nil {
			return run.Fail(run.Misused, "%w", err)
		}
		return tell(r, args[0], file)
	})
}

// tell checks a file, and says what is in it.
func tell(r *run.Run, name string, file []byte) error {
	d, err := Verify(file)
	if err != nil {
		return run.Fail(run.Refused, "%s: %w", name, err)
	}
	if r.JSON {
		return r.ShowDocument(d)
	}
	rows := []string{terminal.Cells("ORGANIZATION", "HIT", "EXPOSED", "TOLD", "RAN", "RUNS", "MISSING", "OPTED OUT", "OVERDUE", "FAILED", "FIRST", "HALF", "95 %", "LAST")}
	for _, s := range append(d.Organizations, d.All) {
		rows = append(rows, terminal.Cells(cmp.Or(s.OrganizationID, "all"), s.Hit, s.Exposed, s.Told, s.Ran, s.Runs, s.Missing, s.OptedOut, s.Overdue, s.Failed, when(s.First), when(s.Half), when(s.Most), when(s.Last)))
	}
	if err := r.Table(rows...); err != nil {
		return err
	}
	r.Say("%s is consistent: %s %s, asked between %s and %s; its SHA-256 is %s", name, d.EdgeType, d.Version, terminal.Dated(d.From), terminal.Dated(d.Until), fmt.Sprintf("%x", sha256.Sum256(file)))
	return nil
}

func when(at *time.Time) string {
	if at == nil {
		return "-"
	}
	return terminal.Dated(*at)
}

const claims = "This file is consistent in itself: its digests, counts and events fit each other. It does not prove that it is the only one. " +
	"Whoever keeps its SHA-256 elsewhere can show later that it was not changed."

// says tells apart what the service saw, what boxes said, and what the maker said of the release.
var says = map[string][]string{
	"service": {"release", "publications", "due", "channels", "told", "toldAt", "rolloutId", "organizationId", "factoryId", "channel", "optOut: who said it, when and why",
		"endedAt of an end that is moved, retired or retyped"},
	"box": {"ranAt", "running", "code", "endedAt of an end that is replaced", "ran", "runs", "hit", "exposed", "failed", "first", "half", "most", "last",
		"missing and overdue: a box that has not said that it runs the version"},
	"maker": {"release.documents", "release.contents", "release.advisories", "affected"},
}

// A collection is a dossier that is being made.
type collection struct {
	*run.Call
	d        Dossier
	channels []release.View // of the edge type
	spells   []report.Spell
	list     []Box
	entries  []entry
}

// collect asks the service for what a dossier rests on.
func collect(ctx context.Context, c *run.Call, edgeType, version string) ([]byte, error) {
	all := &collection{Call: c, d: Dossier{Form: 1, EdgeType: edgeType, Version: version, Service: c.Service(), From: time.Now().UTC(), Claims: claims, Says: says}}
	for _, part := range []func(context.Context) error{all.release, all.boxes, all.events, all.documents} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	all.d.Until = time.Now().UTC()
	events, err := lines[event](all.entries, "events.jsonl")
	if err != nil {
		return nil, err
	}
	all.d.sum(all.spells, all.list, events)
	head, err := json.MarshalIndent(all.d, "", "  ")
	if err != nil {
		return nil, err
	}
	return pack(append([]entry{{"dossier.json", append(head, '\n')}}, all.entries...))
}

func (a *collection) release(ctx context.Context) error {
	known, err := api.All[release.Published](ctx, a.Client, "/api/ota/releases", run.Query("edgeType", a.d.EdgeType), 0)
	if err != nil {
		return err
	}
	named := func(p release.Published) bool { return p.Version == a.d.Version }
	i := slices.IndexFunc(known, named)
	if i < 0 {
		if err := a.fix(known); err != nil {
			return err
		}
		if i = slices.IndexFunc(known, named); i < 0 {
			return run.Fail(run.Refused, "version %s of %s, which fixes %s, was never published", a.d.Version, a.d.EdgeType, a.d.Advisory)
		}
	}
	a.d.Release = known[i]
	a.channels, err = api.All[release.View](ctx, a.Client, "/api/ota/release-channels", run.Query("edgeType", a.d.EdgeType), 0)
	return err
}

// fix finds the version that fixes the advisory which a person named instead of a version.
func (a *collection) fix(known []release.Published) error {
	a.d.Advisory, a.d.Version = a.d.Version, ""
	for _, p := range known {
		for _, is := range p.Advisories {
			switch {
			case is.ID != a.d.Advisory || is.NotAffected:
				continue
			case is.FixedIn == "":
				return run.Fail(run.Refused, "nothing fixes %s in version %s of %s yet", is.ID, p.Version, a.d.EdgeType)
			case a.d.Version != "" && a.d.Version != is.FixedIn:
				return run.Fail(run.Refused, "%s is fixed in %s and in %s; name one of them", is.ID, a.d.Version, is.FixedIn)
			}
			a.d.Version, a.d.Affected = is.FixedIn, append(a.d.Affected, p.Version)
		}
	}
	if a.d.Version == "" {
		return run.Fail(run.Refused, "version %s of %s was never published, and no version has an advisory of this name", a.d.Advisory, a.d.EdgeType)
	}
	return nil
}

// boxes collects the boxes that ran the version before, those that run it, and those whose channel carries it.
func (a *collection) boxes(ctx context.Context) error {
	found := map[string]Box{}
	add := func(carries bool, query ...string) error {
		list, err := api.All[edge.Shown](ctx, a.Client, "/api/edges", run.Query(append(query, "edgeType", a.d.EdgeType)...), 0)
		for _, b := range list {
			found[b.EdgeID] = Box{EdgeID: b.EdgeID, OrganizationID: b.OrganizationID, FactoryID: b.FactoryID, Channel: b.Channel, Running: b.Running,
				Stay: b.Stay, Pending: b.Pending, Carries: carries || found[b.EdgeID].Carries}
		}
		return err
	}
	for _, one := range a.channels {
		carries, name := one.CurrentVersion == a.d.Version, one.Channel.Channel
		if carries {
			a.d.Channels = append(a.d.Channels, name)
		}
		if r := one.ActiveRollout; carries || r != nil && r.TargetVersion == a.d.Version {
			if err := add(carries, "channel", name); err != nil {
				return err
			}
		}
	}
	for _, version := range append([]string{a.d.Version}, a.d.Affected...) {
		if err := add(false, "version", version); err != nil {
			return err
		}
		spells, err := api.All[report.Spell](ctx, a.Client, api.Path("/api/ota/releases/%s/%s/edges", a.d.EdgeType, version), nil, 0)
		if err != nil {
			return err
		}
		a.spells = append(a.spells, spells...)
	}
	a.list = slices.SortedFunc(maps.Values(found), func(x, y Box) int { return cmp.Compare(x.EdgeID, y.EdgeID) })
	if err := a.optOuts(ctx); err != nil {
		return err
	}
	if slices.ContainsFunc(a.spells, func(p report.Spell) bool { return p.Lost > 0 }) {
		a.d.Unknown = append(a.d.Unknown, "some spells of boxes that changed so often that not all were kept (lost)")
	}
	return cmp.Or(listed(a, "spells.jsonl", a.spells), listed(a, "boxes.jsonl", a.list))
}

// optOuts adds what the plants of missing boxes say against the version.
func (a *collection) optOuts(ctx context.Context) error {
	settings, _, err := api.Get[edgetype.Settings](ctx, a.Client, api.Path("/api/ota/edge-types/%s", a.d.EdgeType), nil)
	if err != nil && !run.Missing(err) {
		return err
	}
	now, plants := time.Now(), map[string]*calendar.OptOut{}
	for i, b := range a.list {
		if !b.Carries || b.Running == a.d.Version || b.FactoryID == "" {
			continue
		}
		said, known := plants[b.FactoryID]
		if !known {
			of, _, err := api.Get[factory.Factory](ctx, a.Client, api.Path("/api/factories/%s", b.FactoryID), nil)
			if err != nil {
				return err
			}
			if u := of.Updates.Within(settings.OptOut); u.Wait(a.d.Release.Haste(false, a.d.Release.PublishedAt), now).For == calendar.ForOptOut {
				said = u.OptOut
			}
			plants[b.FactoryID] = said
		}
		a.list[i].OptOut = said
	}
	return nil
}

// events collects the trails of the edge type's channels, and of the rollouts of the version, the oldest event first.
func (a *collection) events(ctx context.Context) error {
	rollouts, err := api.All[rollout.Rollout](ctx, a.Client, "/api/ota/rollouts", run.Query("edgeType", a.d.EdgeType), 0)
	if err != nil {
		return err
	}
	of := [][2]string{{release.SaidType, release.Pair(a.d.EdgeType, a.d.Version)}}
	for _, one := range a.channels {
		of = append(of, [2]string{release.ResourceType, one.ID()})
	}
	for _, r := range rollouts {
		if r.TargetVersion == a.d.Version {
			of = append(of, [2]string{rollout.ResourceType, r.ID})
		}
	}
	var all []map[string]any
	for _, resource := range of {
		events, err := api.All[map[string]any](ctx, a.Client, "/api/audit-events", run.Query("resourceType", resource[0], "resourceId", resource[1]), 0)
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(events) {
			delete(e, "sourceIp") // of a person
			all = append(all, e)
		}
	}
	return listed(a, "events.jsonl", all)
}

// documents collects the documents that the service keeps.
func (a *collection) documents(ctx context.Context) error {
	for _, d := range a.d.Release.Documents {
		if d.SHA256 == "" {
			a.d.Unknown = append(a.d.Unknown, fmt.Sprintf("what is in the %s at %s, which somebody else keeps", d.Kind, d.URL))
			continue
		}
		kept, _, err := api.Get[artifact.Artifact](ctx, a.Client, api.Path("/api/ota/artifacts/%s/%s", a.d.EdgeType, d.SHA256), nil)
		if err != nil {
			return err
		}
		var data bytes.Buffer
		if err := artifacts.Download(ctx, a.Run, kept.URL, d.SHA256, &data); err != nil {
			return err
		}
		a.entries = append(a.entries, entry{strings.Join([]string{"documents", d.SHA256, kept.Filename}, "/"), data.Bytes()})
	}
	a.d.Unknown = append(a.d.Unknown, "what a box does that has not called since", "what ran before the service kept histories")
	return nil
}

// listed adds a list, one item a line.
func listed[T any](a *collection, name string, list []T) error {
	var data bytes.Buffer
	for _, item := range list {
		text, err := timestamp.JSON(item)
		if err != nil {
			return err
		}
		data.Write(append(text, '\n'))
	}
	a.entries = append(a.entries, entry{name, data.Bytes()})
	return nil
}
