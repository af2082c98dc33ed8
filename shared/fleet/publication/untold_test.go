package publication_test

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// TestUntold_OfAnyCount_NamesEachReasonOnce: and only reasons that there are. It fits into a header.
func TestUntold_OfAnyCount_NamesEachReasonOnce(t *testing.T) {
	upTo := regexp.MustCompile(`up to (\d+) of (\d+) boxes`)
	rapid.Check(t, func(t *rapid.T) {
		some := func(name string) int { return rapid.IntRange(0, 3).Draw(t, name) }
		m := publication.Made{Created: rapid.Bool().Draw(t, "new"), Urgent: rapid.Bool().Draw(t, "urgent"), Release: release.Release{Version: "2.0.0"}}
		m.SizeBytes, m.SHA1 = 1, "1"
		m.Requires = rapid.SampledFrom([]string{"", "1.0.0"}).Draw(t, "requires")
		c := &m.Count
		c.Pinned, c.AtClosedPlants = some("pinned"), some("closed")
		c.Versions = []publication.Running{{Version: "0.9.0", Boxes: some("older")}, {Version: "1.0.0", Boxes: some("stone")}, {Version: "2.0.0", Boxes: some("target")}}
		c.Boxes = c.Pinned + c.AtClosedPlants + some("others") + 9
		if rapid.Bool().Draw(t, "counted") {
			c.AsOf = time.Unix(1, 0)
		}
		text := m.Untold()
		has := func(words string, is bool) {
			expect.Must(t, strings.Count(text, words) == map[bool]int{true: 1}[is], "%q has %q: want %t", text, words, is)
		}
		counted := !m.Created && !c.AsOf.IsZero()
		others := c.Boxes - c.Versions[1].Boxes - c.Versions[2].Boxes // with those that never said what they run
		has("Not counted: how many", !m.Created && c.AsOf.IsZero())
		has(strconv.Itoa(c.Pinned)+" pinned", counted && c.Pinned > 0)
		has(strconv.Itoa(c.AtClosedPlants)+" at plants", counted && c.AtClosedPlants > 0 && !m.Urgent)
		has(strconv.Itoa(others)+" that are told 1.0.0 first", counted && m.Requires != "")
		if n := upTo.FindStringSubmatch(text); n != nil {
			untold, all := expect.Value(strconv.Atoi(n[1]))(t), expect.Value(strconv.Atoi(n[2]))(t)
			expect.Must(t, 0 < untold && untold <= all && all == c.Boxes, "%q", text)
		}
		expect.Must(t, !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }), "%q is no header", text)
	})
}

// A countless store answers no read of the counts.
type countless struct{ dynamo.API }

func (c countless) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if *in.TableName == dynamo.Progress.Name() {
		return nil, errors.New("no answer")
	}
	return c.API.GetItem(ctx, in, o...)
}

// TestPublish_TheCountCannotBeRead_IsMadeAllTheSame: what it says about boxes is no reason to keep a release from them.
func TestPublish_TheCountCannotBeRead_IsMadeAllTheSame(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		store := publication.NewStore(dynamo.Open(countless{client}, time.Now))
		p := release.Publication{EdgeType: "t-" + uuid.NewString(), Channel: "stable", CurrentVersion: "1.0.0", ArtifactURL: "https://a.example/1", SHA256: strings.Repeat("a", 64)}
		for _, version := range []string{"1.0.0", "2.0.0"} {
			p.CurrentVersion = version
			made := expect.Value(store.Publish(admission.Unlimited(t.Context()), from("publish"), p, input.Preconditions{}))(t)
			expect.Equal(t, strings.Contains(made.Untold(), "Not counted"), version == "2.0.0", "%s says that nothing was counted:", version)
		}
	})
}
