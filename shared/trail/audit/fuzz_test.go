package audit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// FuzzFilter checks that any query is refused with a reason or gives a filter. That filter keeps
// its meaning when it is written into the link to the next page and read again.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{
		"", "from=2026-03-01T12:00:00Z&to=2026-03-02T00:00:00%2B01:00", "from=2026-03-01t12:00:00.9999z", "from=0000-01-01T00:00:00Z",
		"to=9999-12-31T23:59:59.999999999Z", "from=9999-12-31T23:59:59-23:59", "from=2026-02-30T00:00:00Z", "from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z",
		"resourceType=rollout", "resourceType=rollout&resourceId=%0A", "actorIssuer=https://people.example&actorUserId=olga", "actorUserId=%zz", "resourceId=a;b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		read := func(query string) (audit.Filter, error) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.URL.RawQuery = query
			in := input.Of(r, input.Takes{})
			filter := audit.FilterOf(in)
			return filter, in.Err()
		}
		filter, err := read(query)
		if err != nil {
			p := problem.From(err)
			expect.Must(t, p.Code == problem.ValidationFailed && len(p.Faults) != 0, "refused with %v", err)
			return
		}
		if !filter.From.IsZero() && !filter.To.IsZero() && filter.From.After(filter.To) {
			t.Fatalf("accepted a time from %s to %s", filter.From, filter.To)
		}
		again, err := read(filter.Values().Encode())
		expect.Must(t, err == nil && again.From.Equal(filter.From) && again.To.Equal(filter.To),
			"%q was read as %+v, and that as %+v, %v", query, filter, again, err)
		again.From, again.To = filter.From, filter.To
		expect.Must(t, again == filter, "%q was read as %+v, and that as %+v", query, filter, again)
	})
}
