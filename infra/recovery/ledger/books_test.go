package ledger_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/infra/recovery/ledger"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// item is a value as it is read from a table.
func item(t *testing.T, v any) (i ledger.Item) {
	t.Helper()
	text := expect.Value(json.Marshal(v))(t)
	expect.OK(t, json.Unmarshal(text, &i))
	return i
}

// TestAudit_OfAChannel_ComparesWhatCallersSee: its row holds more, for boxes.
func TestAudit_OfAChannel_ComparesWhatCallersSee(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	row := release.ChannelRow{
		Channel: release.Channel{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: "1.0.0", Revision: 1, UpdatedAt: at},
		Haste:   &calendar.Haste{Urgent: true, Deadline: &at},
		Earlier: []release.RolloutTarget{{Version: "0.9.0"}}, Past: []string{"0.8.0"}, PublishedAt: at, Ways: []release.Path{{Version: "1.0.0"}},
		Kept: []release.Kept{{Organizations: []string{"acme"}}}, Returned: []release.Returned{{RolloutID: "r", Version: "0.9.0", Urgent: true}},
	}
	event := ledger.Item{
		"stream": "platform", "eventId": "e", "eventName": "ReleasePublished", "eventTime": "2026-03-01T12:00:00.000Z", "requestId": "q",
		"resource": ledger.Item{"type": "release-channel", "id": "gateway-x/stable", "revision": float64(1)}, "after": item(t, row.Channel),
	}
	books := ledger.Books{dynamo.Channels: {item(t, row)}, dynamo.Audit: {event}}
	differs := func(finding string) bool { return strings.Contains(finding, "the last event ended with") }
	expect.Equal(t, slices.ContainsFunc(books.Audit(), differs), false, "the row differs from its event")
	books[dynamo.Channels][0]["currentVersion"] = "2.0.0"
	expect.Equal(t, slices.ContainsFunc(books.Audit(), differs), true, "a changed row differs from its event")
}
