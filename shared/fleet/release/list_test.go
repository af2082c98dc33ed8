package release_test

import (
	"cmp"
	"context"
	"slices"
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
	"wavegate/shared/trail/audit"
)

// All tests share the store, so the list of all channels skips what other tests published.
func TestList_OfAllAndOfOneEdgeType_GivesEveryChannelOnceInOrder(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		releases, publications := release.NewStore(db), publication.NewStore(db)
		dynamotest.Check(t, func(t *rapid.T) {
			mark := uuid.NewString()
			types := []string{mark, mark + "-b", mark + "x"}
			made := map[string]bool{}
			for range rapid.IntRange(0, 5).Draw(t, "channels") {
				edgeType := rapid.SampledFrom(types).Draw(t, "type")
				channel := rapid.StringMatching(`[a-c][a-c.-]?`).Draw(t, "channel")
				made[release.Pair(edgeType, channel)] = true
				_, err := publications.Publish(admission.Unlimited(context.Background()), audit.Origin{}, release.Publication{
					EdgeType: edgeType, Channel: channel, CurrentVersion: "1.0.0",
					ArtifactURL: "https://artifacts.example/a", SHA256: strings.Repeat("a", 64)}, input.Preconditions{})
				expect.OK(t, err)
			}
			wanted := rapid.SampledFrom(append([]string{""}, types...)).Draw(t, "by type")
			var want []string
			for pair := range made {
				if wanted == "" || strings.HasPrefix(pair, wanted+"/") {
					want = append(want, pair)
				}
			}
			slices.SortFunc(want, func(a, b string) int {
				typeA, channelA, _ := strings.Cut(a, "/")
				typeB, channelB, _ := strings.Cut(b, "/")
				return cmp.Or(cmp.Compare(typeA, typeB), cmp.Compare(channelA, channelB))
			})
			var got []string
			w := dynamo.Span{Limit: rapid.IntRange(1, 100).Draw(t, "limit")}
			for more := true; more; w.Skip += w.Limit {
				page := expect.Value(releases.List(context.Background(), wanted, w))(t)
				for _, c := range page.Items {
					if strings.HasPrefix(c.EdgeType, mark) {
						got = append(got, c.ID())
					}
				}
				more = page.More
			}
			expect.Must(t, slices.Equal(got, want), "of %q the walk gives %q, want %q", wanted, got, want)
		})
	})
}
