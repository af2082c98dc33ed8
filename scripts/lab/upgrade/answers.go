package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"wavegate/scripts/samples"
)

// Answers are what a deployment answered, by caller and call.
type Answers map[string]string

// passes are members that follow from the time or from the polls and ticks in between, not from what is stored alone. counts is
// for how many ticks a rollout waits for a person.
var passes = []string{
	"asOf", "ageSeconds", "lastSeenAt", "lastHeardAt", "tokenLastUsedAt", "silent", "soakedSeconds", "used", "remaining", "resetSeconds", "requestId", "counts",
}

// soaked is how long a stage has soaked, in the guard's sentences.
var soaked = regexp.MustCompile(`soaked \d+ of`)

// Settle has every box poll, ticks, and waits until all boxes were counted again. After that, a look changes nothing that a
// later one shows.
func (d *Deployment) Settle(ctx context.Context) error {
	time.Sleep(cached)
	for range 2 { // if the store is slow, a poll is answered without being recorded
		if _, err := d.poll(); err != nil {
			return err
		}
	}
	begin := time.Now()
	d.recounted = map[string]bool{}
	if err := d.judged(ctx, begin); err != nil {
		return err
	}
	err := each(d.counts, func(c samples.Call) error {
		for range 300 {
			a, err := d.make(c)
			if err != nil {
				return err
			}
			var count struct{ AsOf time.Time }
			if err := json.Unmarshal(a.Body, &count); err != nil {
				return err
			}
			// Nothing counts the boxes of a rollout after a later one has replaced it.
			final := time.Since(count.AsOf) > 15*time.Second
			if a.Status != http.StatusOK || count.AsOf.After(begin) || final {
				return d.choose(c, begin)
			}
			time.Sleep(200 * time.Millisecond) // until the last count is old enough
		}
		return fmt.Errorf("upgrade: %s is not counted again", c.Path)
	})
	d.settled = time.Now()
	return err
}

// choose decides which of the two answers on a count is compared. An answer without the parameter may show a count that
// ticks made before a time, until it is too old: then the new count is compared.
func (d *Deployment) choose(again samples.Call, after time.Time) error {
	again.Path = strings.TrimSuffix(again.Path, fresh)
	a, err := d.make(again)
	if err != nil {
		return err
	}
	var count struct{ AsOf time.Time }
	if a.Status == http.StatusOK {
		err = json.Unmarshal(a.Body, &count)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recounted[again.Path] = a.Status == http.StatusOK && count.AsOf.Before(after)
	return err
}

// judged ticks until all active rollouts were counted after a time. A tick does not count again what was counted a moment
// ago.
func (d *Deployment) judged(ctx context.Context, after time.Time) error {
	for range 100 {
		if err := d.Tick(ctx); err != nil {
			return err
		}
		rows, err := d.items(samples.Owner, "/api/ota/overview?limit=100")
		if err != nil {
			return err
		}
		recent := !slices.ContainsFunc(rows, func(row map[string]any) bool {
			progress, _ := row["progress"].(map[string]any)
			at, err := time.Parse(time.RFC3339, fmt.Sprint(progress["asOf"]))
			return err != nil || !at.After(after)
		})
		if recent {
			return nil
		}
		time.Sleep(time.Second)
	}
	return errors.New("upgrade: the ticks do not count all active rollouts")
}

// A View is everything that a deployment answers.
type View struct {
	// Reads are the answers to every read of what Fill made, all pages of it.
	Reads Answers
	// Polls are the answers to every poll of a box or a machine, which tell it what to run, and to every call with an
	// Idempotency-Key, which is repeated.
	Polls Answers
}

// Look asks everything. Polls are last, because they may change what is read later.
func (d *Deployment) Look() (v View, err error) {
	reads := slices.Clone(d.reads)
	for i, c := range reads {
		if d.recounted[c.Path] {
			reads[i].Path += fresh
		}
	}
	if v.Reads, err = d.ask(reads); err != nil {
		return v, err
	}
	v.Polls, err = d.poll()
	return v, err
}

// Compare returns how a later view differs.
func (v View) Compare(later View) []string {
	return append(v.Polls.compare(later.Polls), v.Reads.compare(later.Reads)...)
}

func (d *Deployment) poll() (Answers, error) {
	calls := slices.Clone(d.polls)
	for _, b := range d.boxes {
		calls = append(calls, b.poll())
	}
	return d.ask(calls)
}

func (d *Deployment) ask(calls []samples.Call) (Answers, error) {
	var mu sync.Mutex
	all := Answers{}
	err := each(calls, func(c samples.Call) error {
		first := strings.Join([]string{c.By.User, c.Method, c.Path, c.Header[1]}, " ")
		for page := 1; c.Path != ""; page++ {
			a, err := d.make(c)
			if err != nil {
				return err
			}
			if a.Status >= http.StatusInternalServerError {
				return fmt.Errorf("upgrade: %s %s is answered with %d: %s", c.Method, c.Path, a.Status, a.Body)
			}
			shown, next := plain(a.Body, d.settled)
			location := a.Header.Get("Location")
			mu.Lock()
			all[fmt.Sprintf("%s page %d", first, page)] = fmt.Sprint(a.Status, " ", location, " ", shown)
			mu.Unlock()
			if link, _, is := strings.Cut(a.Header.Get("Link"), `>; rel="next"`); is {
				next = strings.TrimPrefix(link, "<")
			}
			c.Path = next
		}
		return nil
	})
	return all, err
}

// plain returns the lasting part of an answer, and the path of the next page. A list has no moments after a time, at which
// boxes were counted in between.
func plain(body []byte, until time.Time) (shown, next string) {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return lines(body, until), ""
	}
	if page, is := v.(map[string]any); is {
		next, _ = page["next"].(string)
		delete(page, "next") // a cursor is sealed with a time
		if items, is := page["items"].([]any); is {
			page["items"] = slices.DeleteFunc(items, func(item any) bool {
				moment, _ := item.(map[string]any)
				text, _ := moment["at"].(string)
				at, err := time.Parse(time.RFC3339, text)
				return err == nil && at.After(until)
			})
		}
	}
	text, err := json.Marshal(lasting(v))
	if err != nil { // it was JSON
		panic(err)
	}
	return soaked.ReplaceAllString(string(text), "soaked some of"), next
}

// lines returns the lasting part of an answer that has a JSON object on each line.
func lines(body []byte, until time.Time) string {
	var all []string
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		if json.Valid([]byte(line)) {
			line, _ = plain([]byte(line), until)
			all = append(all, line)
		}
	}
	if all == nil {
		return string(body)
	}
	return strings.Join(all, "\n")
}

// lasting removes members that pass from a value.
func lasting(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = lasting(v[i])
		}
	case map[string]any:
		for name := range v {
			if slices.Contains(passes, name) {
				delete(v, name)
			} else {
				v[name] = lasting(v[name])
			}
		}
	}
	return v
}

// compare returns how later answers differ from these.
func (a Answers) compare(later Answers) []string {
	var differ []string
	for _, call := range slices.Sorted(maps.Keys(a)) {
		if was, is := a[call], later[call]; was != is {
			differ = append(differ, call+": "+between(was, is))
		}
	}
	for _, call := range slices.Sorted(maps.Keys(later)) {
		if _, known := a[call]; !known {
			differ = append(differ, fmt.Sprintf("%s is a new page: %s", call, later[call]))
		}
	}
	return differ
}

// between shows where two texts begin to differ.
func between(was, is string) string {
	at := 0
	for at < min(len(was), len(is)) && was[at] == is[at] {
		at++
	}
	part := func(s string) string { return s[max(0, at-100):min(len(s), at+200)] }
	return fmt.Sprintf("the answer was\n\t…%s…\nand is\n\t…%s…", part(was), part(is))
}

// Told counts the boxes of the fleet by channel and by the version that they are told.
func (v View) Told() map[string]int {
	n := map[string]int{}
	for call, answer := range v.Polls {
		name, found := strings.CutPrefix(strings.Fields(call)[0], edgeType+"-")
		if !found {
			continue
		}
		_, text, _ := strings.Cut(answer, "{")
		var told struct{ Version string }
		if json.Unmarshal([]byte("{"+text), &told) == nil {
			channel, _, _ := strings.Cut(name, "-")
			n[channel+" "+told.Version]++
		}
	}
	return n
}
