package timestamp_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/platform/timestamp"
	"wavegate/shared/testing/expect"
)

// everything has each kind of member that the service's answers have.
type everything struct {
	inner
	*Deep
	Name     string         `json:"name"`
	Empty    string         `json:"empty,omitempty"`
	At       time.Time      `json:"at"`
	Maybe    *time.Time     `json:"maybe,omitempty"`
	Never    *time.Time     `json:"never"`
	Zero     time.Time      `json:"zero,omitzero"`
	List     []Deep         `json:"list"`
	ByName   map[string]any `json:"byName"`
	Numbers  map[int]string `json:"numbers,omitempty"`
	Any      any            `json:"any"`
	Raw      json.RawMessage
	Bytes    []byte  `json:"bytes,omitempty"`
	Hidden   string  `json:"-"`
	Shadowed int     `json:"shadowed"`
	Starts   *starts `json:"starts,omitempty"`
	own      int
}

// starts has times behind pointers only.
type starts struct {
	At1 *time.Time `json:"1,omitempty"`
}

type inner struct {
	First    float64 `json:"first"`
	Shadowed string  `json:"shadowed"`
}

type Deep struct {
	Since time.Time `json:"since"`
	Flag  bool      `json:"flag,omitempty"`
	Next  *Deep     `json:"next,omitempty"`
}

// times draws times to the millisecond, in any zone.
func times(whole bool) *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		ms := rapid.Int64Range(0, 4e12).Draw(t, "ms")
		if !whole {
			ms = ms/10*10 + rapid.Int64Range(1, 9).Draw(t, "last digit")
			return time.UnixMilli(ms).UTC()
		}
		return time.UnixMilli(ms).In(time.FixedZone("", rapid.IntRange(-12, 12).Draw(t, "zone")*3600))
	})
}

// TestJSON_TimesThatEndInNoZero_IsThatOfEncodingJSON: apart from zeros at the end, the two write the same.
func TestJSON_TimesThatEndInNoZero_IsThatOfEncodingJSON(t *testing.T) {
	at := times(false)
	deep := rapid.Custom(func(t *rapid.T) Deep {
		d := Deep{Since: at.Draw(t, "since"), Flag: rapid.Bool().Draw(t, "flag")}
		if rapid.Bool().Draw(t, "deeper") {
			d.Next = &Deep{Since: at.Draw(t, "next")}
		}
		return d
	})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("aé<>&\"\\\u2028\n")))
		v := everything{
			Name: text.Draw(t, "name"), Empty: text.Draw(t, "empty"), At: at.Draw(t, "at"), own: 1, Hidden: "x",
			List: rapid.SliceOfN(deep, 0, 2).Draw(t, "list"), Any: rapid.Bool().Draw(t, "any"), Raw: json.RawMessage(`{"a":1}`),
			Shadowed: 7, inner: inner{First: rapid.Float64Range(-1e9, 1e9).Draw(t, "first"), Shadowed: "no"},
			Bytes: rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "bytes"), Numbers: rapid.MapOfN(rapid.Int(), text, 0, 2).Draw(t, "numbers"),
		}
		if rapid.Bool().Draw(t, "set") {
			d, m := deep.Draw(t, "embedded"), at.Draw(t, "maybe")
			v.Deep, v.Maybe, v.Zero, v.Starts = &d, &m, m, &starts{&m}
			v.ByName = map[string]any{text.Draw(t, "key"): d, "at": m, "list": []any{m, nil, 3, map[string]any{"x": &m}}}
			v.Any = &v.List
		}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		expect.OK(t, e.Encode(v))
		got, err := timestamp.JSON(v)
		if err != nil || string(got) != string(bytes.TrimSuffix(want.Bytes(), []byte("\n"))) {
			t.Fatalf("got  %s %v\nwant %s", got, err, want.Bytes())
		}
	})
}

func TestText_SortsAsTheTimes_AndReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := times(true).Draw(t, "a"), times(true).Draw(t, "b")
		expect.Equal(t, cmp.Compare(timestamp.Text(a), timestamp.Text(b)), a.Compare(b), "%s and %s sort as", a, b)
		text, err := timestamp.JSON(map[string]time.Time{"at": a})
		var back map[string]time.Time
		if err != nil || len(text) != len(`{"at":"2026-03-01T12:00:00.120Z"}`) || json.Unmarshal(text, &back) != nil || !back["at"].Equal(a) {
			t.Errorf("%s became %s", a, text)
		}
	})
}

// TestJSON_ATimeBehindAnything_HasThreeDigits: also if a type has no time itself.
func TestJSON_ATimeBehindAnything_HasThreeDigits(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 120e6, time.UTC)
	for _, v := range []any{at, &at, starts{&at}, &starts{&at}, []*time.Time{&at}, map[string]*starts{"a": {&at}}, [1]any{&at}, struct{ starts }{starts{&at}}} {
		if text, err := timestamp.JSON(v); err != nil || !bytes.Contains(text, []byte(`"2026-03-01T12:00:00.120Z"`)) {
			t.Errorf("%T became %s %v", v, text, err)
		}
	}
}

func TestJSON_WhatCannotBeEncoded_IsAnError(t *testing.T) {
	for _, v := range []any{make(chan int), map[string]any{"f": func() {}}, []any{time.Now(), make(chan int)}} {
		if text, err := timestamp.JSON(v); err == nil {
			t.Errorf("%T became %s", v, text)
		}
	}
}
