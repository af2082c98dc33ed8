package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/operator/verify"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/golden"
)

// TestAnswers_AboutOldItems_AreTheSame makes every read that was recorded, on the items that were recorded with it.
func TestAnswers_AboutOldItems_AreTheSame(t *testing.T) {
	t.Parallel()
	items := expect.Value(golden.Items())(t)
	recorded := expect.Value(readAnswers())(t)
	w := opened(t)
	w.values = recorded.Values
	start := time.Now().Truncate(time.Second)
	by := expect.Value(w.load(t.Context(), items, recorded.Recorded))(t)
	before := time.Duration(recorded.Shift) * time.Second
	c := comparison{shift: by - before, was: recorded.Recorded.Add(before + age), start: start}
	for _, was := range recorded.Calls {
		now := expect.Value(w.make(was.read))(t)
		if unapproved(items, w.fill(was.Call)) {
			list, _ := golden.Parsed(now.Answer).(golden.Plain)["items"].([]any)
			expect.Equal(t, len(list), 0, "%s: the number of machines is", w.fill(was.Call))
			continue
		}
		call, _, _ := strings.Cut(was.Call, "&")
		if was.Status == http.StatusForbidden && now.Status == http.StatusOK && slices.Contains(permitted, was.By+" "+call) {
			continue
		}
		for _, fault := range c.compare(was, now) {
			t.Errorf("%s: %s: %s", was.By, w.fill(was.Call), fault)
		}
	}
	t.Logf("%d answers about items of %s", len(recorded.Calls), recorded.Recorded.Format(time.DateOnly))
	chains(t, w, items, recorded.Recorded)
}

// permitted are calls that an earlier release refused: an organization's admin reads its boxes since.
var permitted = []string{"anna GET /api/edges?organizationId=acme"}

// unapproved reports whether a call lists the machines of a version that nobody approved. It concerns no machine; the first
// release listed those that its steps name.
func unapproved(items []golden.Item, call string) bool {
	return slices.ContainsFunc(items, func(i golden.Item) bool {
		if i.Table != dynamo.MethodVersions || i.Plain["status"] != "draft" && i.Plain["status"] != "in_review" {
			return false
		}
		number := strings.TrimLeft(fmt.Sprint(i.Plain["number"]), "0")
		return strings.Contains(call, fmt.Sprintf("/%v/versions/%s/machines", i.Plain["methodId"], number))
	})
}

// chains verifies the chain of each method, as an auditor does.
func chains(t *testing.T, w *world, items []golden.Item, recorded time.Time) {
	t.Helper()
	get := func(_ context.Context, path string) ([]byte, error) {
		if strings.HasPrefix(path, "/api/audit-events?") { // the factory's row and its events are of several recordings
			return nil, errors.New("not compared")
		}
		a, err := w.ask("anna", "GET "+path, "")
		if err == nil && a.Status != http.StatusOK {
			err = fmt.Errorf("GET %s: answered %d: %s", path, a.Status, a.Body)
		}
		return a.Body, err
	}
	verified := 0
	for _, i := range items {
		if i.Table != dynamo.Methods || !i.Recorded.Equal(recorded) || i.Plain["latest"] == nil {
			continue
		}
		r, err := verify.Method(t.Context(), get, fmt.Sprint(i.Plain["factoryId"]), fmt.Sprint(i.Plain["methodId"]), nil)
		if err != nil || len(r.Findings) > 0 || len(r.Links) == 0 {
			t.Errorf("the method %v: %d links, %q, %v", i.Plain["name"], len(r.Links), r.Findings, err)
		}
		verified++
	}
	expect.That(t, verified != 0, "no method was verified")
}
