package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wavegate/shared/testing/golden"
)

// ignored are members of answers, by path, that do not depend on what is stored alone, and why.
var ignored = map[string]string{}

// A comparison compares an answer with a recorded one, to calls whose items have times that are later by a shift.
type comparison struct {
	shift  time.Duration
	faults []string
}

// compare lists what of a recorded answer is lost or other. An answer may have more members.
func compare(was, now exchange, shift time.Duration) []string {
	c := comparison{shift: shift}
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
	for pattern := range ignored {
		if strings.HasSuffix(path, pattern) && now != nil {
			return
		}
	}
	switch w := was.(type) {
	case golden.Plain:
		n, ok := now.(golden.Plain)
		if !ok {
			c.add(path, "was an object, and is %v", now)
			return
		}
		for _, name := range golden.Names(w) {
			if v, found := n[name]; found {
				c.values(path+"."+name, w[name], v)
			} else {
				c.add(path+"."+name, "is missing")
			}
		}
	case []any:
		n, ok := now.([]any)
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
		if now != was && fmt.Sprint(later(was, c.shift)) != fmt.Sprint(now) {
			c.add(path, "was %v, and is %v", was, now)
		}
	}
}

// texts compares texts with times: each is the recorded one, or later by the shift.
func (c *comparison) texts(path, was, now string) {
	before, after := timeText.FindAllString(was, -1), timeText.FindAllString(now, -1)
	same := timeText.ReplaceAllString(was, "TIME") == timeText.ReplaceAllString(now, "TIME") && len(before) == len(after)
	for i := range before {
		same = same && slices.Contains([]string{before[i], laterText(before[i], c.shift)}, after[i])
	}
	if !same {
		c.add(path, "was %q, and is %q", was, now)
	}
}
