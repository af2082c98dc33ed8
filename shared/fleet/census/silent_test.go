package census_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// TestSearch_OfSilentBoxes_ListsThoseThatTheCountNames: page by page, to an organization its own, and no longer once they call.
func TestSearch_OfSilentBoxes_ListsThoseThatTheCountNames(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := newFleet(t, client, 4)
		var boxes []string
		for i := range 8 {
			boxes = append(boxes, fmt.Sprintf("%s-%d", f.edgeType, i))
			f.register(t, boxes[i], f.channel, "plant-1")
			f.poll(t, boxes[i], "1.0.0")
		}
		id := f.start(t, 100)
		for _, box := range boxes {
			f.poll(t, box, "1.0.0")
			f.poll(t, box, "2.0.0")
		}
		f.later(30 * time.Minute)
		for _, box := range boxes[5:] {
			f.poll(t, box, "2.0.0")
		}
		pages := func(organization string, limit int) (listed []string) {
			t.Helper()
			caller := owner
			if organization != "" {
				caller = of(organization)
			}
			search := expect.Value(f.progress.Search(f.ctx, caller, id, "silent"))(t)
			for span := (dynamo.Span{Limit: limit}); ; {
				page := expect.Value(search.Page(f.ctx, span))(t)
				for _, b := range page.Items {
					if b.LastSeenAt == nil || f.time().Sub(*b.LastSeenAt) < 30*time.Minute-time.Second {
						t.Errorf("listed as %+v", b)
					}
					listed = append(listed, b.EdgeID)
				}
				if span.After = page.Last; !page.More {
					return listed
				}
				expect.That(t, search.IsPosition(page.Last), "%q is not a position", page.Last)
			}
		}
		if named := f.count(t, id).Silent; named.Boxes != 5 {
			t.Errorf("the count says %+v", named)
		}
		expect.Equal(t, pages("", 2), boxes[:5], "two boxes a page, the list has")
		expect.Equal(t, pages("acme", 3), boxes[:5], "for their organization, it has")
		for _, box := range boxes {
			f.poll(t, box, "2.0.0")
		}
		expect.Equal(t, len(pages("", 10)), 0, "once they have called, the list's length is")
	})
}
