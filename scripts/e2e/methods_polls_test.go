package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// machinePoll is the answer to a poll, as a controller reads it.
type machinePoll struct {
	Items []struct {
		MethodID, ContentSHA256 string
		Version                 int
		Next                    *struct {
			Version                                     int
			Phase, ContentSHA256, Content, WorkMasterID string
		}
	}
	Next                string
	PollIntervalSeconds int
}

func (b *bench) poll(path string) (p machinePoll) {
	b.Helper()
	b.author.Get(b, path).Is(b, http.StatusOK).Into(b, &p)
	return p
}

// TestPoll_WithoutParameters_ListsAllThatHoldsOnTheMachine walks the pages of one poll.
func TestPoll_WithoutParameters_ListsAllThatHoldsOnTheMachine(t *testing.T) {
	b := newBench(t)
	var want, named []string
	for i := range 5 {
		b.path = b.author.Post(t, methods, method).Is(t, http.StatusCreated).Header.Get("Location")
		content := smallContent
		if i == 4 { // by name and by class
			content = strings.Replace(smallContent, `{"class":"press"}`, `{"machines":["press-1"]}`, 1)
		}
		b.release(1, content)
		want = append(want, id(b.path))
		named = append(named, "methodId="+id(b.path))
	}
	b.machine("saw-1", "saw")
	path := "/api/factories/munich-1/machines/press-1/methods"
	var got []string
	for next := path + "?limit=2"; next != ""; {
		page := b.poll(next)
		for _, m := range page.Items {
			got = append(got, m.MethodID)
		}
		next = page.Next
	}
	slices.Sort(want)
	expect.That(t, slices.Equal(got, want), "the pages have %q, want %q", got, want)
	if p := b.poll("/api/factories/munich-1/machines/press-2/methods"); len(p.Items) != 4 {
		t.Errorf("press-2: %+v", p)
	}
	if p := b.poll("/api/factories/munich-1/machines/saw-1/methods"); len(p.Items) != 0 || p.PollIntervalSeconds != 300 {
		t.Errorf("saw-1: %+v", p)
	}
	p := b.poll(path + "?" + strings.Join(named[:3], "&"))
	expect.That(t, len(p.Items) == 3, "three methods: %+v", p)
	p = b.poll(path + "?productId=" + product)
	expect.That(t, len(p.Items) == 5, "the methods of the product: %+v", p)
	for query, pointer := range map[string]string{
		strings.Repeat("methodId="+want[0]+"&", 26):                  "methodId",
		named[0] + "&" + named[0]:                                    "methodId",
		named[0] + "&productId=7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11": "productId",
		"at=2026-01-01T00:00:00Z":                                    "methodId",
	} {
		d := b.author.Get(t, path+"?"+query).Refused(t, problem.ValidationFailed)
		expect.That(t, d.Errors[0].Parameter == pointer, "%.60s: %+v", query, d.Errors)
	}
	b.author.Get(t, path+"?cursor=x").Refused(t, problem.InvalidCursor)
}

// A controller can fetch the next version before it holds.
func TestPoll_Next_CanBeFetchedAhead(t *testing.T) {
	b := newBench(t)
	b.release(1, smallContent)
	b.save(2, another("Two")).Is(t, http.StatusCreated)
	b.move(b.author, 2, "in_review", "").Is(t, http.StatusOK)
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	b.move(b.approver, 2, "released", fmt.Sprintf(`,"effectiveFrom":%q`, later)).Is(t, http.StatusOK)
	p := b.poll("/api/factories/munich-1/machines/press-1/methods")
	expect.Must(t, len(p.Items) == 1 && p.Items[0].Next != nil && p.PollIntervalSeconds == 60, "%+v", p)
	next := p.Items[0].Next
	expect.That(t, next.Version == 2 && next.Phase == "released" && next.WorkMasterID == id(b.path)+":2",
		"next is %+v", next)
	tag := b.author.Get(t, next.Content).Is(t, http.StatusOK).Header.Get("ETag")
	expect.That(t, tag == `"`+next.ContentSHA256+`"`, "the content's tag is %s, want %s", tag, next.ContentSHA256)
}
