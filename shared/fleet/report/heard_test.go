package report_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
)

func poll(running string, heard ...input.Heard) report.By {
	return report.By{Input: report.Polled{Told: "1.4.0", Running: running, At: time.Unix(1, 0)}, Way: report.ByPoll, Heard: heard}
}

// TestHeard_OfAWay_TakesThePlaceOfTheLastOne, and the same again changes nothing.
func TestHeard_OfAWay_TakesThePlaceOfTheLastOne(t *testing.T) {
	odd := input.Heard{Field: "installed", Said: "1.4.0⏎", Read: "1.4.0"}
	row, _ := report.Next(report.Row{EdgeID: "box-1"}, poll("1.4.0", odd))
	expect.Equal(t, row.HeardSentence(), " It says `1.4.0⏎`, read as 1.4.0.", "the sentence")
	_, changed := report.Next(row, poll("1.4.0", odd))
	expect.That(t, !changed, "the same poll writes the row")

	failed := report.By{Input: report.Outcome{At: time.Unix(2, 0)}, Way: report.ByReport, Heard: []input.Heard{{Field: "code", Said: "e7"}}}
	row, _ = report.Next(row, failed)
	expect.Equal(t, len(row.Heard), 2, "of two ways")
	failed.Heard = nil
	row, _ = report.Next(row, failed)
	expect.Equal(t, len(row.Heard), 2, "after a report that can be read")
	row, _ = report.Next(row, poll("1.4.0"))
	expect.Equal(t, row.Heard, []report.Heard{{Way: report.ByReport, Heard: input.Heard{Field: "code", Said: "e7"}}}, "after a poll that can be read")

	row.OrganizationID = "acme"
	next := row.Registered(report.Registration{EdgeID: "box-1", OrganizationID: "rival"})
	expect.Equal(t, len(next.Heard), 0, "of another organization")
}

func TestOutcome_ThatCannotBeRead_ChangesNothing(t *testing.T) {
	was := report.Row{EdgeID: "box-1", Offer: &report.Offer{Version: "1.4.0", State: report.Working, Attempts: 2}}
	for _, o := range []report.Outcome{{State: report.Failed}, {Version: "1.4.0"}, {}} {
		_, changed := report.Next(was, o)
		expect.That(t, !changed, "%+v changes the row", o)
	}
	row, _ := report.Next(was, report.Outcome{Version: "1.4.0", State: report.Failed, Code: report.CodeOther})
	expect.That(t, row.Offer.State == report.Failed && row.Offer.FailedAttempt == 2, "a failure without a number of an attempt: %+v", row.Offer)
}

// TestFittedOf_AttributesOfHawkBit are fitted, and what was changed is noted. It is the rule of the contract.
func TestFittedOf_AttributesOfHawkBit(t *testing.T) {
	long, many := strings.Repeat("x", 70), ""
	for _, c := range "abcdefghijklmnopq" {
		many += `"` + string(c) + `":"1",`
	}
	for name, c := range map[string]struct {
		body  string
		want  map[string]string
		notes []string
	}{
		"as they are":      {`{"board":"A","rev":"2"}`, map[string]string{"board": "A", "rev": "2"}, nil},
		"names":            {`{"hw revision":"A","HwRevision":"B","iso:8601":"C","größe":"D","_x":"E"}`, map[string]string{"HwRevision": "B", "hw_revision": "A", "iso_8601": "C", "gr__e": "D", "x": "E"}, []string{"_x: E=x: E", "größe: D=gr__e: D", "hw revision: A=hw_revision: A", "iso:8601: C=iso_8601: C"}},
		"values":           {`{"a":" 1\n","b":"` + long + `"}`, map[string]string{"a": "1", "b": long[:64]}, []string{"a:  1⏎=a: 1", "b: " + long[:61] + "…=b: " + long[:61] + "…"}},
		"other kinds":      {`{"n":7,"f":1.5,"b":true,"z":null,"l":[1],"o":{"a":1}}`, map[string]string{"n": "7", "f": "1.5", "b": "true"}, []string{"l=", "o="}},
		"the first counts": {`{"a b":"1","a:b":"2","a":"3","a":"4"}`, map[string]string{"a": "3", "a_b": "1"}, []string{"a b: 1=a_b: 1", "a:b: 2="}},
		"nothing":          {`{"":"1","°":"2","a":" ","b":""}`, map[string]string{}, []string{": 1=", "a:␣␣=", "b:␣=", "°: 2="}},
		"sixteen":          {`{` + many + `"z":"1"}`, map[string]string{"a": "1", "b": "1", "c": "1", "d": "1", "e": "1", "f": "1", "g": "1", "h": "1", "i": "1", "j": "1", "k": "1", "l": "1", "m": "1", "n": "1", "o": "1", "p": "1"}, []string{"q: 1=", "z: 1="}},
	} {
		in := input.Of(httptest.NewRequest(http.MethodPut, "/", strings.NewReader(c.body)), input.Takes{})
		in.Box = true
		in.Hears()
		got := report.FittedOf(in.Body())
		var notes []string
		for _, h := range in.Heard() {
			notes = append(notes, h.Said+"="+h.Read)
		}
		expect.Equal(t, got, c.want, "%s", name)
		expect.Equal(t, strings.Join(notes, "|"), strings.Join(c.notes, "|"), "%s: notes", name)
	}
}

// FuzzFittedOf: whatever a box says about itself, it is kept as attributes that people may write, too.
func FuzzFittedOf(f *testing.F) {
	f.Add(`{"hw revision":"A","\ufeff":7,"x":"\u202e","n":1e999,"a":[{}]}`)
	f.Add("{\"a\":\"\xff\n\"}")
	f.Fuzz(func(t *testing.T, body string) {
		in := input.Of(httptest.NewRequest(http.MethodPut, "/", strings.NewReader(body)), input.Takes{})
		in.Box = true
		in.Hears()
		got := report.FittedOf(in.Body())
		expect.OK(t, in.Err())
		expect.Equal(t, report.Fitting(got, nil), got, "as people may write them")
		expect.Must(t, len(got) <= report.MostAttributes, "%d are kept", len(got))
	})
}
