package polling_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
)

// of reads a request of a box.
func of(query, body string) *input.Reader {
	r := httptest.NewRequest(http.MethodPut, "/", strings.NewReader(body))
	r.URL.RawQuery = query
	r.SetPathValue("edgeId", "box-1")
	in := input.Of(r, input.Takes{})
	in.Box = true
	in.Hears()
	return in
}

func TestPollOf_AVersionInAQuery_IsReadAsItIsMeant(t *testing.T) {
	for query, want := range map[string]string{
		"1.4.0": "1.4.0", "1.4.0+7": "1.4.0+7", "1.4.0%2B7": "1.4.0+7", "1.4.0%207": "1.4.0+7", "a+b+c": "a+b+c", "a++b": "a  b", "+1.4.0+": "1.4.0",
		"1.4.0%0A": "1.4.0", "1.4.0%0D%0A": "1.4.0", "%EF%BB%BF1.4.0": "1.4.0", "1.4.0%00": "1.4.0", "1%0A4": "1?4", "%22v1%22": `"v1"`, "": "", "%0A": "",
		strings.Repeat("x", 200): strings.Repeat("x", 128), "%zz": "",
	} {
		in := of("installed="+query, "")
		expect.Equal(t, polling.PollOf(in).Installed, want, "installed=%s", query)
		expect.OK(t, in.Err())
	}
}

// FuzzPollOf: a poll of a box has no fault, and the version that it says can be stored and compared.
func FuzzPollOf(f *testing.F) {
	f.Add("installed=1.4.0+7&bell=perhaps&health=x:1&x=1")
	f.Add("installed=%00&installed=%ff;&%zz")
	f.Fuzz(func(t *testing.T, query string) {
		in := of(query, "")
		p := polling.PollOf(in)
		expect.OK(t, in.Err())
		_, code, _ := polling.RunningRule.Apply(p.Installed)
		expect.Must(t, code == "" && input.Visible("a"+p.Installed), "%q is kept", p.Installed)
		again := of("installed="+url.QueryEscape(p.Installed), "")
		expect.Equal(t, polling.PollOf(again).Installed, p.Installed, "what is read is read")
	})
}

// FuzzOutcomeOf: a report of a box has no fault, and what is kept of it is as the contract says.
func FuzzOutcomeOf(f *testing.F) {
	f.Add(`{"version":"1.4.0\n","attempt":"2","outcome":"FAILED","code":7,"detail":["x"],"until":"soon"}`)
	f.Add("{\"version\":null,\"outcome\":{}}")
	f.Fuzz(func(t *testing.T, body string) {
		in := of("", body)
		o := polling.OutcomeOf(in.Body())
		expect.OK(t, in.Err())
		// The box's own words for a version are no name of a release.
		expect.Must(t, o.Version == "" || input.Visible(o.Version) && utf8.RuneCountInString(o.Version) <= polling.RunningRule.Max, "the version %q", o.Version)
		expect.Must(t, o.State == "" || report.OutcomeRule.Accepts(string(o.State)), "the outcome %q", o.State)
		expect.Must(t, o.Code == "" || o.State == report.Failed && report.CodeRule.Accepts(string(o.Code)), "the code %q of %q", o.Code, o.State)
		expect.Must(t, report.DetailRule.Accepts(o.Detail), "the detail %q", o.Detail)
		expect.Must(t, o.Until == nil || o.State == report.Deferred, "an end of %q", o.State)
	})
}
