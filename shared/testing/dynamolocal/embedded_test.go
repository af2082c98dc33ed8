package dynamolocal

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"wavegate/shared/testing/expect"
)

func ask(e *engine, operation, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	answer := httptest.NewRecorder()
	e.ServeHTTP(answer, r)
	return answer
}

const createTable = `{"TableName":"t","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"k","KeyType":"HASH"}],
	"AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"},{"AttributeName":"x","AttributeType":"S"}],
	"GlobalSecondaryIndexes":[{"IndexName":"i","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`

func TestTokens_AfterTenMinutes_AreForgotten(t *testing.T) {
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	e := newEngine(func() time.Time { return now })
	if a := ask(e, "CreateTable", createTable); a.Code != http.StatusOK {
		t.Fatal(a.Body)
	}
	const add = `{"ClientRequestToken":"one","TransactItems":[{"Update":{"TableName":"t","Key":{"k":{"S":"a"}},
		"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`
	for _, c := range []struct {
		later time.Duration
		want  string
	}{{0, "1"}, {10 * time.Minute, "1"}, {time.Millisecond, "2"}} {
		now = now.Add(c.later)
		a := ask(e, "TransactWriteItems", add)
		expect.Must(t, a.Code == http.StatusOK, "%v", a.Body)
		var found struct{ Item map[string]map[string]string }
		expect.OK(t, json.Unmarshal(ask(e, "GetItem", `{"TableName":"t","Key":{"k":{"S":"a"}}}`).Body.Bytes(), &found))
		expect.Equal(t, found.Item["n"]["N"], c.want, "%v later, n =", c.later)
	}
}

func TestTokens_ManyOldOnes_AreCleared(t *testing.T) {
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	seen := tokens{now: func() time.Time { return now }, seen: map[string]applied{}}
	parts := []map[action]*write{{put: {TableName: aws.String("t")}}}
	for range 3 * manyTokens {
		now = now.Add(time.Second)
		seen.remember(now.String(), parts)
	}
	n := len(seen.seen)
	expect.That(t, n <= manyTokens, "%d tokens are kept", n)
}

func TestEmbedded_UnknownOperation_IsNamed(t *testing.T) {
	a := ask(newEngine(time.Now), "ExecuteStatement", "{}")
	if a.Code != http.StatusBadRequest || !strings.Contains(a.Body.String(), "UnknownOperationException") || !strings.Contains(a.Body.String(), "ExecuteStatement") {
		t.Errorf("got %d %s", a.Code, a.Body)
	}
}

// FuzzEmbedded_AnyBody_IsAnswered: input that minidyn cannot handle gets an answer, and the
// store continues to work.
func FuzzEmbedded_AnyBody_IsAnswered(f *testing.F) {
	operations := []string{"PutItem", "UpdateItem", "DeleteItem", "GetItem", "Query", "Scan", "BatchWriteItem", "TransactWriteItems", "CreateTable", "DeleteTable"}
	const parts = `"TableName":"t","Key":{"k":{"S":"a"}},"UpdateExpression":"SET x = :v REMOVE y[0].z ADD n :v","ConditionExpression":"NOT (a < :v) OR size(x) IN (:v)","ExpressionAttributeValues":{":v":{"N":"1"}}`
	for i := range operations {
		f.Add(uint8(i), `{"TableName":"t","Item":{"k":{"S":"a"},"l":{"L":[{"M":{}}]}}}`)
		f.Add(uint8(i), `{`+parts+`}`)
		f.Add(uint8(i), `{"TransactItems":[{"Update":{`+parts+`}},{"Put":{}},{"Delete":null}],"ClientRequestToken":"x"}`)
		f.Add(uint8(i), `{"RequestItems":{"t":[{"PutRequest":{"Item":{"k":{"S":"a"}}}},{}]}}`)
		f.Add(uint8(i), `{"TableName":"t","IndexName":"i","KeyConditionExpression":"x = :x","Select":"COUNT"}`)
		f.Add(uint8(i), createTable)
	}
	f.Fuzz(func(t *testing.T, operation uint8, body string) {
		e := newEngine(time.Now)
		ask(e, "CreateTable", createTable)
		a := ask(e, operations[int(operation)%len(operations)], body)
		expect.That(t, json.Valid(a.Body.Bytes()), "answered %d %q", a.Code, a.Body)
		if a := ask(e, "CreateTable", strings.Replace(createTable, `"t"`, `"another"`, 1)); a.Code != http.StatusOK && !strings.Contains(a.Body.String(), "ResourceInUse") {
			t.Errorf("the store no longer works: %s", a.Body)
		}
	})
}
