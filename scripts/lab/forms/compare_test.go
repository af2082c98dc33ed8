package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/testing/golden"
)

// ignored are the members of answers that differ each time, and why.
var ignored = map[string]string{
	"requestId":     "each call has its own",
	"next":          "a cursor that contains a time and its hash; later pages are calls of their own",
	"ageSeconds":    "until now",
	"soakedSeconds": "until now",
	"resetSeconds":  "from now",
}

// renamed are the members of answers that have another name since.
var renamed = map[string]string{"rule": "reason"}

// left are the kinds of lines that an export no longer has: the limits' own counts. A page of it has more of the others.
var left = []any{"call-counter", "box-counter"}

// without returns the lines of an export that it still has, and as many of those that it has now.
func without(was, now []any) (kept, others []any) {
	kept = slices.DeleteFunc(slices.Clone(was), func(v any) bool {
		line, _ := v.(golden.Plain)
		return slices.Contains(left, line["kind"])
	})
	if len(kept) < len(was) {
		now = now[:min(len(now), len(kept))]
	}
	return kept, now
}

// reworded are the parts of sentences that a later release words in another way: a hold must not advise to retire boxes,
// which are evidence, and a return sends boxes back, too.
var reworded = strings.NewReplacer("retire them or lower taken in the policy", "lower taken in the policy",
	"only a publication sends a box back", "only a publication or a return sends a box back")

// A comparison compares answers with recorded ones, which are about items with earlier times.
type comparison struct {
	shift      time.Duration // of the items' times, since the recorded answers
	was, start time.Time     // when the recorded calls began, and when these ones did
	faults     []string
}

// compare lists what of a recorded answer is lost or other. An answer may have more members.
func (c *comparison) compare(was, now exchange) []string {
	c.faults = nil
	if was.Status != now.Status {
		return []string{fmt.Sprintf("answered %d, and %d before: %s", now.Status, was.Status, now.Answer)}
	}
	c.texts("ETag", was.ETag, now.ETag)
	c.values("", golden.Parsed(was.Answer), golden.Parsed(now.Answer))
	return c.faults
}

func (c *comparison) add(path, format string, a ...any) {
	c.faults = append(c.faults, path+": "+fmt.Sprintf(format, a...))
}

func (c *comparison) values(path string, was, now any) {
	switch w := was.(type) {
	case golden.Plain:
		n, ok := now.(golden.Plain)
		if !ok {
			c.add(path, "was an object, and is %v", now)
			return
		}
		if w["subject"] != nil && w["b"] != nil { // the limiter's own times
			w = shiftedCounter(w, c.shift)
		}
		for _, name := range golden.Names(w) {
			if v, found := n[name]; found && ignored[name] != "" {
				continue
			} else if found {
				c.values(path+"."+name, w[name], v)
			} else if n[renamed[name]] == nil {
				c.add(path+"."+name, "is missing")
			}
		}
	case []any:
		n, ok := now.([]any)
		w, n = without(w, n)
		if !ok || len(n) != len(w) {
			c.add(path, "had %d entries, and is %v", len(w), now)
			return
		}
		for i := range w {
			c.values(fmt.Sprintf("%s.%d", path, i), w[i], n[i])
		}
	case string:
		n, ok := now.(string)
		if !ok {
			c.add(path, "was %q, and is %v", w, now)
			return
		}
		c.texts(path, w, n)
	default:
		if now != was && (now == nil || later(was, c.shift) != now) && !moreSilent(path, was, now) {
			c.add(path, "was %v, and is %v", was, now)
		}
	}
}

// moreSilent reports whether more boxes of a rollout are silent: since a later release, after the time of its policy if that is
// shorter than ten minutes.
func moreSilent(path string, was, now any) bool {
	before, err := strconv.Atoi(fmt.Sprint(was))
	after, err2 := strconv.Atoi(fmt.Sprint(now))
	return strings.Contains(path, ".silent.") && err == nil && err2 == nil && after > before
}

// texts compares texts with times.
func (c *comparison) texts(path, was, now string) {
	was, now = reworded.Replace(was), reworded.Replace(now) // a stored sentence keeps its words
	before, after := timeText.FindAllString(was, -1), timeText.FindAllString(now, -1)
	same := timeText.ReplaceAllString(was, "TIME") == timeText.ReplaceAllString(now, "TIME") && len(before) == len(after)
	for i := range before {
		same = same && c.sameTime(before[i], after[i])
	}
	if !same {
		c.add(path, "was %q, and is %q", was, now)
	}
}

// sameTime reports whether a time is the recorded one, later by the shift, or a time of these calls instead of the
// recorded ones.
func (c *comparison) sameTime(was, now string) bool {
	if now == was || now == laterText(was, c.shift) {
		return true
	}
	before, err := time.Parse(time.RFC3339Nano, was)
	after, err2 := time.Parse(time.RFC3339Nano, now)
	return err == nil && err2 == nil && !before.Before(c.was) && !after.Before(c.start)
}
