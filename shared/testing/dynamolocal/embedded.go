package dynamolocal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/truora/minidyn/server"
)

// Embedded starts a store in this process, on a free loopback port. It keeps everything in
// memory. Unlike DynamoDB, it reports no capacity, has no TTL, and supports
// only the operations that the service, its tools and its tests call.
func Embedded() (*Store, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &http.Server{Handler: newEngine(time.Now), ReadHeaderTimeout: 5 * time.Second}
	go s.Serve(listener) //nolint:errcheck // it ends by Close
	return &Store{Kind: "embedded", Endpoint: "http://" + listener.Addr().String(), close: s.Close}, nil
}

// An engine is the embedded store. minidyn holds the tables and evaluates expressions. The
// engine adds what minidyn lacks: transactions that copy no tables and give every reason,
// request tokens, REMOVE, indexes that items can leave and enter, and counts without items.
//
// Each write is first tried on a copy of its item in the scratch tables. Only a successful write
// reaches the stored tables. So a transaction checks all its parts before it changes anything.
type engine struct {
	mu      sync.Mutex // one call at a time, so that transactions never collide
	tables  map[string]schema
	stored  *server.Client
	scratch *server.Client // has every table, with at most one item
	tokens  tokens
}

// A schema is the key attributes of a table.
type schema struct {
	primary []string            // of the table itself
	indexes map[string][]string // by the name of the index
}

// all lists the key attributes of the table and of its indexes.
func (s schema) all() []string { return slices.Concat(s.keys()...) }

// keys lists the key attributes of the table and of each index: the partition first, and then what sorts, if anything does.
func (s schema) keys() [][]string {
	return append(slices.Collect(maps.Values(s.indexes)), s.primary)
}

func newEngine(now func() time.Time) *engine {
	return &engine{
		tables: map[string]schema{}, stored: server.NewClient(), scratch: server.NewClient(),
		tokens: tokens{now: now, seen: map[string]applied{}},
	}
}

// A failure is an error as DynamoDB sends it.
type failure struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
	// Item is the item on which a condition failed, if the call asks for it.
	Item item `json:",omitempty"`
	// CancellationReasons has one entry for each part of a cancelled transaction.
	CancellationReasons []reason `json:",omitempty"`
}

func (f *failure) Error() string { return f.Type + ": " + f.Message }

// The DynamoDB error names that the engine uses.
const (
	validation      = "ValidationException"
	conditionFailed = "ConditionalCheckFailedException"
)

func invalid(format string, a ...any) error {
	return &failure{Type: validation, Message: fmt.Sprintf(format, a...)}
}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has left
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	answer, err := e.do(r.Context(), operation, body)
	status := http.StatusOK
	if err != nil {
		f := failureOf(err)
		answer, status = f, http.StatusBadRequest
		if f.Type == "InternalServerError" {
			status = http.StatusInternalServerError
		}
	}
	text, err := json.Marshal(answer)
	if err != nil { // strings, numbers and bytes can always be encoded
		panic(err)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// do runs one call. A panic in minidyn becomes the answer to that call.
func (e *engine) do(ctx context.Context, operation string, body []byte) (answer any, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("minidyn panicked: %v", p)
		}
	}()
	switch operation {
	case "CreateTable":
		return call(ctx, body, e.createTable)
	case "DescribeTable":
		return call(ctx, body, e.stored.DescribeTable)
	case "DeleteTable":
		return call(ctx, body, e.deleteTable)
	case "GetItem":
		return call(ctx, body, e.getItem)
	case "BatchGetItem":
		return call(ctx, body, e.batchGetItem)
	case "Query":
		return call(ctx, body, e.query)
	case "Scan":
		return call(ctx, body, e.scan)
	case "PutItem":
		return call(ctx, body, e.single(put))
	case "UpdateItem":
		return call(ctx, body, e.single(update))
	case "DeleteItem":
		return call(ctx, body, e.single(remove))
	case "BatchWriteItem":
		return call(ctx, body, e.batchWriteItem)
	case "TransactWriteItems":
		return call(ctx, body, e.transactWriteItems)
	}
	return nil, &failure{Type: "UnknownOperationException", Message: "The embedded store does not support " + operation + "."}
}

func call[In, Out any](ctx context.Context, body []byte, do func(context.Context, *In) (*Out, error)) (any, error) {
	in := new(In)
	if err := json.Unmarshal(body, in); err != nil {
		return nil, &failure{Type: "SerializationException", Message: err.Error()}
	}
	return do(ctx, in)
}

// failureOf turns any error into what DynamoDB would send.
func failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return &failure{Type: api.ErrorCode(), Message: api.ErrorMessage()}
	}
	return &failure{Type: "InternalServerError", Message: err.Error()}
}

func (e *engine) createTable(ctx context.Context, in *server.CreateTableInput) (*server.CreateTableOutput, error) {
	out, err := e.stored.CreateTable(ctx, in)
	if err != nil {
		return nil, err
	}
	if _, err := e.scratch.CreateTable(ctx, in); err != nil {
		return nil, err
	}
	k := schema{primary: attributes(in.KeySchema), indexes: map[string][]string{}}
	for _, x := range in.GlobalSecondaryIndexes {
		k.indexes[*x.IndexName] = attributes(x.KeySchema)
	}
	for _, x := range in.LocalSecondaryIndexes {
		k.indexes[*x.IndexName] = attributes(x.KeySchema)
	}
	e.tables[*in.TableName] = k
	return out, nil
}

func attributes(keys []types.KeySchemaElement) []string {
	var names []string
	for _, k := range keys {
		names = append(names, *k.AttributeName)
	}
	return names
}

func (e *engine) deleteTable(ctx context.Context, in *server.DeleteTableInput) (*server.DeleteTableOutput, error) {
	out, err := e.stored.DeleteTable(ctx, in)
	if err != nil {
		return nil, err
	}
	delete(e.tables, *in.TableName)
	_, err = e.scratch.DeleteTable(ctx, in)
	return out, err
}

func (e *engine) getItem(ctx context.Context, in *server.GetItemInput) (*itemAnswer, error) {
	out, err := e.stored.GetItem(ctx, in)
	if err != nil {
		return nil, err
	}
	return &itemAnswer{out.Item}, nil
}

func (e *engine) batchGetItem(ctx context.Context, in *server.BatchGetItemInput) (*batchAnswer, error) {
	answer := &batchAnswer{Responses: map[string][]item{}}
	for table, asked := range in.RequestItems {
		if len(asked.Keys) == 0 || len(asked.Keys) > 100 {
			return nil, invalid("%d keys", len(asked.Keys))
		}
		for _, key := range asked.Keys {
			got, err := e.getItem(ctx, &server.GetItemInput{TableName: &table, Key: key})
			if err != nil {
				return nil, err
			}
			if got.Item != nil {
				answer.Responses[table] = append(answer.Responses[table], got.Item)
			}
		}
	}
	return answer, nil
}

func (e *engine) query(ctx context.Context, in *server.QueryInput) (*pageAnswer, error) {
	if err := e.known(in.TableName, in.IndexName); err != nil {
		return nil, err
	}
	if empty(in) {
		return nil, invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value")
	}
	if crossed(in) {
		return nil, invalid("Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound")
	}
	out, err := e.stored.Query(ctx, in)
	if err != nil {
		return nil, err
	}
	return pageOf(out.Items, out.LastEvaluatedKey, in.Select == types.SelectCount), nil
}

var between = regexp.MustCompile(`BETWEEN (:\w+) AND (:\w+)`)

// crossed reports whether the lower bound of a range of texts is above the upper one.
func crossed(in *server.QueryInput) bool {
	if in.KeyConditionExpression == nil {
		return false
	}
	names := between.FindStringSubmatch(*in.KeyConditionExpression)
	if names == nil {
		return false
	}
	least, most := in.ExpressionAttributeValues[names[1]], in.ExpressionAttributeValues[names[2]]
	return least != nil && most != nil && least.S != nil && most.S != nil && *least.S > *most.S
}

var parameter = regexp.MustCompile(`:\w+`)

// empty reports whether a condition on a key has an empty text.
func empty(in *server.QueryInput) bool {
	if in.KeyConditionExpression == nil {
		return false
	}
	return slices.ContainsFunc(parameter.FindAllString(*in.KeyConditionExpression, -1), func(name string) bool {
		v := in.ExpressionAttributeValues[name]
		return v != nil && v.S != nil && *v.S == ""
	})
}

func (e *engine) scan(ctx context.Context, in *server.ScanInput) (*pageAnswer, error) {
	if err := e.known(in.TableName, in.IndexName); err != nil {
		return nil, err
	}
	out, err := e.stored.Scan(ctx, in)
	if err != nil {
		return nil, err
	}
	return pageOf(out.Items, out.LastEvaluatedKey, in.Select == types.SelectCount), nil
}

// known refuses a table that does not exist, and an index that the table does not have.
func (e *engine) known(table, index *string) error {
	if table == nil {
		return invalid("1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null")
	}
	k, ok := e.tables[*table]
	if !ok {
		return &failure{Type: "ResourceNotFoundException", Message: "Requested resource not found"}
	}
	if index != nil && k.indexes[*index] == nil {
		return invalid("The table does not have the specified index: %s", *index)
	}
	return nil
}
