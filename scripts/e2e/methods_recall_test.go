package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	production "wavegate/shared/production/method"
	"wavegate/shared/testing/dynamolocal"
)

// TestRecall_ThatNoMachineConfirms_IsToldOnceByTheTick_WithItsOwnRights simulates half an hour.
func TestRecall_ThatNoMachineConfirms_IsToldOnceByTheTick_WithItsOwnRights(t *testing.T) {
	b := newBench(t)
	b.release(1, smallContent)
	b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
	event, err := os.ReadFile(filepath.Join("..", "..", "events", "tick.json"))
	if err != nil {
		t.Fatal(err)
	}
	recall := "munich-1/" + id(b.path) + "/1"
	told := func() []map[string]any {
		if _, err := b.w.Function(operations.Tick).Invoke(t.Context(), event); err != nil {
			t.Fatal(err)
		}
		return b.w.Events(t, production.RecallResourceType, recall)
	}
	if events := told(); len(events) != 0 {
		t.Fatalf("told at once: %v", events)
	}
	_, err = b.w.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName:                 aws.String(dynamolocal.TableName(dynamo.Progress)),
		Key:                       map[string]types.AttributeValue{"subject": &types.AttributeValueMemberS{Value: "recalls"}, "part": &types.AttributeValueMemberS{Value: recall}},
		UpdateExpression:          aws.String("SET since = :since"),
		ConditionExpression:       aws.String("attribute_exists(since)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":since": &types.AttributeValueMemberS{Value: time.Now().Add(-production.ConfirmWithin).UTC().Format(time.RFC3339Nano)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		events := told()
		if len(events) != 1 || events[0]["eventName"] != production.RecallUnconfirmed {
			t.Fatalf("told %v", events)
		}
		cause, _ := events[0]["cause"].(map[string]any)
		if sentence, _ := cause["sentence"].(string); !strings.HasSuffix(sentence, "30 minutes after its orders were stopped.") {
			t.Errorf("because %v", cause)
		}
		if events[0]["why"] != cause["sentence"] {
			t.Errorf("the event bus tells %v", events[0]["why"])
		}
	}
}
