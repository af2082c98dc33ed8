package upgrade

import (
	"strings"
	"testing"
	"time"
)

func TestPlain_LeavesOutWhatPasses_AndNothingElse(t *testing.T) {
	until := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ body, want, next string }{
		"a member that passes":     {`{"id":"a","asOf":"2026-11-24T13:00:00Z"}`, `{"id":"a"}`, ""},
		"one in a list of objects": {`{"items":[{"lastSeenAt":"x","b":1}]}`, `{"items":[{"b":1}]}`, ""},
		"the next page":            {`{"items":[1],"next":"/api/factories?cursor=x"}`, `{"items":[1]}`, "/api/factories?cursor=x"},
		"a count from afterwards": {`{"items":[{"at":"2026-11-24T13:00:00Z"},{"at":"2026-11-24T11:00:00Z"}]}`,
			`{"items":[{"at":"2026-11-24T11:00:00Z"}]}`, ""},
		"lines":                   {"{\"kind\":\"edge\",\"asOf\":1}\n{\"kind\":\"edge\",\"value\":2}\n", "{\"kind\":\"edge\"}\n{\"kind\":\"edge\",\"value\":2}", ""},
		"how long a stage soaked": {`{"sentence":"Hold: soaked 3 of 60 minutes; x"}`, `{"sentence":"Hold: soaked some of 60 minutes; x"}`, ""},
		"text":                    {"text", "text", ""},
		"nothing":                 {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if shown, next := plain([]byte(c.body), until); shown != c.want || next != c.next {
				t.Errorf("%q and the next page %q, want %q and %q", shown, next, c.want, c.next)
			}
		})
	}
}

func TestView_AnotherAnswer_IsNamed(t *testing.T) {
	before := View{Reads: Answers{"olga GET /a page 1": "200  {}"}, Polls: Answers{"box GET /b page 1": `200  {"version":"1.1.0"}`}}
	if differ := before.Compare(before); len(differ) > 0 {
		t.Errorf("%q", differ)
	}
	for name, later := range map[string]View{
		"a poll":          {Reads: before.Reads, Polls: Answers{"box GET /b page 1": `200  {"version":"1.0.0"}`}},
		"a missing read":  {Reads: Answers{}, Polls: before.Polls},
		"one more page":   {Reads: Answers{"olga GET /a page 1": "200  {}", "olga GET /a page 2": "200  {}"}, Polls: before.Polls},
		"another status":  {Reads: Answers{"olga GET /a page 1": "404  {}"}, Polls: before.Polls},
		"a lost location": {Reads: Answers{"olga GET /a page 1": "200 /x {}"}, Polls: before.Polls},
	} {
		if differ := before.Compare(later); len(differ) != 1 || !strings.Contains(differ[0], " GET /") {
			t.Errorf("%s: %q", name, differ)
		}
	}
}

func TestView_Told_CountsTheBoxesOfTheFleet(t *testing.T) {
	v := View{Polls: Answers{
		"fleet-u-ten-0 GET /x page 1": `200  {"version":"1.1.0"}`,
		"fleet-u-ten-1 GET /x page 1": `200  {"version":"1.1.0"}`,
		"fleet-u-one-1 GET /x page 1": `200  {"version":"1.0.0"}`,
		"another-box GET /x page 1":   `200  {"version":"1.0.0"}`,
	}}
	if told := v.Told(); len(told) != 2 || told["ten 1.1.0"] != 2 || told["one 1.0.0"] != 1 {
		t.Errorf("%v", told)
	}
}
