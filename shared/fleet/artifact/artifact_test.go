package artifact

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

var (
	noon   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	sha1Of = strings.Repeat("2", 40)
	image  = Wish{Name: Name{"gateway-x", strings.Repeat("a", 64)}, SizeBytes: 10, Filename: "image.swu"}
)

// in is the row of an artifact in a state, changed at noon.
func in(s State, arrived bool) Row {
	r := Row{Partition: Partition, ID: id(image.Name), Key: "secret", Filename: "image.swu", Details: release.Details{SizeBytes: 10},
		State: s, Arrived: arrived, Revision: 3, CreatedAt: noon, UpdatedAt: noon}
	if arrived {
		r.SHA1 = sha1Of
	}
	if s == Deleted {
		r.RemoveAt = new(noon.Add(lingers))
	}
	return r
}

func TestRow_EveryStateAndEvent(t *testing.T) {
	removing := in(Removed, false)
	removing.Removing = true
	described := image
	described.SHA1 = strings.Repeat("1", 40)
	other := image
	other.SizeBytes = 11
	ask := func(w Wish, missing bool) func(Row, time.Time) (Row, string, error) {
		return func(r Row, at time.Time) (Row, string, error) { return r.ask(w, missing, at) }
	}
	finish := func(r Row, at time.Time) (Row, string, error) { return r.keep(in(Kept, true).Details, at) }
	sweep := func(used bool) func(Row, time.Time) (Row, string, error) {
		return func(r Row, at time.Time) (Row, string, error) {
			next, event := r.sweep(used, at)
			return next, event, nil
		}
	}
	for name, c := range map[string]struct {
		was     Row
		rule    func(Row, time.Time) (Row, string, error)
		after   time.Duration
		event   string
		state   State
		refused problem.Code
	}{
		"none, asked":                        {Row{}, ask(image, false), 0, "ArtifactAsked", Waiting, ""},
		"none, finished":                     {Row{}, finish, 0, "", "", problem.NotFound},
		"none, deleted":                      {Row{}, Row.delete, 0, "", "", problem.NotFound},
		"waiting, asked again":               {in(Waiting, false), ask(image, false), waits / 2, "", Waiting, ""},
		"waiting, asked again much later":    {in(Waiting, false), ask(image, false), waits/2 + 1, "ArtifactAsked", Waiting, ""},
		"waiting, asked with a SHA-1":        {in(Waiting, false), ask(described, false), 0, "", Waiting, ""},
		"waiting, asked with another size":   {in(Waiting, false), ask(other, false), 0, "ArtifactDescribed", Waiting, ""},
		"waiting, finished":                  {in(Waiting, false), finish, 0, "ArtifactKept", Kept, ""},
		"waiting, deleted":                   {in(Waiting, false), Row.delete, 0, "ArtifactDeleted", Deleted, ""},
		"waiting, swept too early":           {in(Waiting, false), sweep(false), waits - 1, "", Waiting, ""},
		"waiting, swept":                     {in(Waiting, false), sweep(false), waits, "ArtifactRemoved", Removed, ""},
		"waiting for lost bytes, swept":      {in(Waiting, false), sweep(true), waits, "ArtifactRestored", Waiting, ""},
		"kept, asked":                        {in(Kept, true), ask(image, false), time.Hour, "", Kept, ""},
		"kept, asked with a SHA-1":           {in(Kept, true), ask(described, false), 0, "", Kept, problem.Conflict},
		"kept, asked with another size":      {in(Kept, true), ask(other, false), 0, "", Kept, problem.Conflict},
		"kept, asked, and its bytes missing": {in(Kept, true), ask(image, true), 0, "ArtifactMissed", Waiting, ""},
		"kept, finished":                     {in(Kept, true), finish, 0, "", Kept, ""},
		"kept, deleted":                      {in(Kept, true), Row.delete, 0, "ArtifactDeleted", Deleted, ""},
		"kept, swept":                        {in(Kept, true), sweep(false), 10 * lingers, "", Kept, ""},
		"deleted, asked":                     {in(Deleted, true), ask(image, false), 0, "ArtifactRestored", Kept, ""},
		"deleted, asked with another SHA-1":  {in(Deleted, true), ask(described, false), 0, "", Deleted, problem.Conflict},
		"deleted, asked with another size":   {in(Deleted, true), ask(other, false), 0, "", Deleted, problem.Conflict},
		"deleted while waiting, asked":       {in(Deleted, false), ask(image, false), 0, "ArtifactRestored", Waiting, ""},
		"the same with another size":         {in(Deleted, false), ask(other, false), 0, "ArtifactRestored", Waiting, ""},
		"deleted, asked, and bytes missing":  {in(Deleted, true), ask(image, true), 0, "ArtifactMissed", Waiting, ""},
		"deleted, finished":                  {in(Deleted, true), finish, 0, "", Deleted, problem.Conflict},
		"deleted, deleted":                   {in(Deleted, true), Row.delete, time.Hour, "", Deleted, ""},
		"deleted, swept too early":           {in(Deleted, true), sweep(false), lingers - 1, "", Deleted, ""},
		"deleted, swept":                     {in(Deleted, true), sweep(false), lingers, "ArtifactRemoved", Removed, ""},
		"deleted and used again, swept":      {in(Deleted, true), sweep(true), lingers, "ArtifactRestored", Kept, ""},
		"being removed, asked":               {removing, ask(image, false), 0, "", Removed, problem.Conflict},
		"being removed, finished":            {removing, finish, 0, "", Removed, problem.ArtifactNotKept},
		"being removed, deleted":             {removing, Row.delete, 0, "", Removed, ""},
		"being removed, swept":               {removing, sweep(false), 10 * lingers, "", Removed, ""},
		"removed, asked with another size":   {in(Removed, false), ask(other, false), 0, "ArtifactAsked", Waiting, ""},
		"removed, finished":                  {in(Removed, false), finish, 0, "", Removed, problem.ArtifactNotKept},
		"removed, swept":                     {in(Removed, false), sweep(false), 10 * lingers, "", Removed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			next, event, err := c.rule(c.was, noon.Add(c.after))
			if c.refused != "" {
				expect.Equal(t, problem.Has(err, c.refused), true, "refused with %v", err)
				return
			}
			expect.OK(t, err)
			expect.Equal(t, []any{event, next.State}, []any{event, c.state}, "the event and the state")
			expect.Equal(t, event, c.event, "the event")
			if (event != "") != (next.Revision == c.was.Revision+1) || next.State != Deleted && next.State != Removed && next.RemoveAt != nil {
				t.Errorf("the row is %+v", next)
			}
			if c.was.Key != "" && (next.Key != c.was.Key) != (c.was.State == Removed && next.State == Waiting) {
				t.Error("its addresses have changed")
			}
		})
	}
}

// TestRow_OnlyAKeptArtifact_CanBeUsed: and its URL is not known from its digest.
func TestRow_OnlyAKeptArtifact_CanBeUsed(t *testing.T) {
	for name, r := range map[string]Row{"none": {}, "waiting": in(Waiting, false), "deleted": in(Deleted, true), "removed": in(Removed, false)} {
		expect.Equal(t, problem.Has(r.Used(image.Name), problem.ArtifactNotKept), true, "%s is refused", name)
	}
	expect.OK(t, in(Kept, true).Used(image.Name))
	one, _, _ := Row{}.ask(image, false, noon)
	two, _, _ := Row{}.ask(image, false, noon)
	expect.That(t, one.Key != two.Key && len(one.Key) >= 26, "the keys are %q and %q", one.Key, two.Key)
}

func TestFilename_ThatMeansSomethingElseSomewhere_IsRefused(t *testing.T) {
	for name, taken := range map[string]bool{
		"image.swu": true, "gateway_1.2.0-rc1.img.xz": true, strings.Repeat("a", 255): true, "_": true,
		"": false, "a/b": false, "..": false, "a..b": false, ".hidden": false, "a.": false, "-o": false, "a b": false, "a+b": false, "a%2fb": false,
		"a\nb": false, "a\x00": false, "gpj.\u202eswu": false, "ä.swu": false, `a\b`: false, strings.Repeat("a", 256): false, "a:b": false,
	} {
		expect.Equal(t, FilenameRule.Accepts(name), taken, "%q is taken:", name)
	}
}
