package bus_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/scripts/local/bus"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 110e6, time.UTC)

func event(id, name string, at time.Time, revision int64) audit.Event {
	return audit.Event{
		EventID: id, EventName: name, EventTime: at, RequestID: "r-1", SourceIP: "203.0.113.7",
		Actor:    audit.Actor{Issuer: "https://people.example", UserID: "olga"},
		Resource: audit.Resource{Type: "rollout", ID: "one", Revision: revision},
		After:    map[string]any{"artifactUrl": "https://secret.example"},
	}
}

// TestFollow_WritesEachNewEventOnce_InTheOrderOfTime, and no earlier ones.
func TestFollow_WritesEachNewEventOnce_InTheOrderOfTime(t *testing.T) {
	store := expect.Value(dynamolocal.Embedded())(t)
	t.Cleanup(func() { _ = store.Close() })
	db := store.Client()
	expect.OK(t, dynamolocal.CreateTables(t.Context(), db))
	put := func(e audit.Event) {
		t.Helper()
		item, err := dynamo.Encode(audit.RecordOf(audit.Platform, e))
		if err == nil {
			_, err = db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(dynamolocal.TableName(dynamo.Audit)), Item: item})
		}
		expect.OK(t, err)
	}
	put(event("e-0", "RolloutStarted", noon.Add(-time.Minute), 1))
	var out bytes.Buffer
	f := expect.Value(bus.Follow(t.Context(), db, &out))(t)
	put(event("e-2", "RolloutHalted", noon.Add(time.Second), 3))
	put(event("e-1", "RolloutPromoted", noon, 2))
	for range 2 {
		expect.OK(t, f.Look(t.Context()))
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	expect.Must(t, len(lines) == 2, "it wrote %q, want two lines", lines)
	const first = `{"source":"wavegate.local","detail-type":"RolloutPromoted","time":"2026-03-01T12:00:00.110Z","detail":` +
		`{"eventId":"e-1","eventTime":"2026-03-01T12:00:00.110Z","eventName":"RolloutPromoted","actor":{"issuer":"https://people.example","userId":"olga"},` +
		`"requestId":"r-1","why":"No reason given.","override":"no","resource":{"type":"rollout","id":"one","revision":"2"}}}`
	expect.Equal(t, lines[0], first, "it wrote")
	var second bus.Entry
	if err := json.Unmarshal([]byte(lines[1]), &second); err != nil || second.DetailType != "RolloutHalted" {
		t.Errorf("then it wrote %s, %v", lines[1], err)
	}
}
