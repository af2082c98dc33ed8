package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

// chained are the tables of factories. Their times never shift, because a chain of hashes covers them.
var chained = []dynamo.TableID{dynamo.Factories, dynamo.Machines, dynamo.Methods, dynamo.MethodVersions, dynamo.MethodContents,
	dynamo.MethodReports, dynamo.MethodPlaces}

// shifts reports whether the times of an item shift.
func shifts(i golden.Item) bool {
	stream, _ := i.Plain["stream"].(string)
	return !slices.Contains(chained, i.Table) && !strings.HasPrefix(stream, "factory/") && i.Plain["subject"] != "recalls"
}

// shifted is an item as it would be if it had been recorded later, by whole seconds.
func shifted(i golden.Item, by time.Duration) golden.Plain {
	switch {
	case !shifts(i):
		return i.Plain
	case i.Table == dynamo.RateCounters:
		return shiftedCounter(i.Plain, by)
	}
	return later(i.Plain, by).(golden.Plain)
}

var (
	timeText = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	hourText = regexp.MustCompile(`^hour#\d{4}-\d\d-\d\dT\d\d$`)
)

const hourForm = "hour#2006-01-02T15"

// later shifts the times in a value: texts, and numbers of seconds or milliseconds since 1970.
func later(v any, by time.Duration) any {
	switch v := v.(type) {
	case string:
		if at, err := time.Parse(hourForm, v); err == nil && hourText.MatchString(v) {
			return at.Add(by).Format(hourForm)
		}
		return timeText.ReplaceAllStringFunc(v, func(text string) string { return laterText(text, by) })
	case json.Number:
		n, err := v.Int64()
		switch {
		case err != nil:
		case n > 1_500_000_000 && n < 10_000_000_000:
			return json.Number(strconv.FormatInt(n+int64(by.Seconds()), 10))
		case n > 1_500_000_000_000 && n < 10_000_000_000_000:
			return json.Number(strconv.FormatInt(n+by.Milliseconds(), 10))
		}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = later(v[i], by)
		}
		return list
	case golden.Plain:
		m := golden.Plain{}
		for name := range v {
			m[name] = later(v[name], by)
		}
		return m
	}
	return v
}

// laterText shifts a time, which keeps its number of digits.
func laterText(text string, by time.Duration) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	form := "2006-01-02T15:04:05Z"
	if _, fraction, found := strings.Cut(strings.TrimSuffix(text, "Z"), "."); found {
		form = "2006-01-02T15:04:05." + strings.Repeat("0", len(fraction)) + "Z"
	}
	return at.Add(by).UTC().Format(form)
}

// shiftedCounter shifts an item of the limiter, whose slots are half seconds, named by their number modulo 4,096.
func shiftedCounter(p golden.Plain, by time.Duration) golden.Plain {
	slots := int64(by / (500 * time.Millisecond))
	m := golden.Plain{}
	for name, v := range p {
		n, _ := v.(json.Number)
		number, _ := n.Int64() // 0 for a text
		slot, err := strconv.ParseInt(strings.TrimPrefix(name, "x"), 16, 64)
		switch {
		case name == "b":
			m[name] = json.Number(strconv.FormatInt(number+slots, 10))
		case strings.HasPrefix(name, "x") && err == nil:
			m[fmt.Sprintf("x%03x", ((slot+slots)%4096+4096)%4096)] = v
		default:
			m[name] = later(v, by)
		}
	}
	return m
}

// age is how old the items are when they are read: so old that nothing is decided by seconds, and older than none of the
// longer times that matter to them.
const age = 20 * time.Minute
