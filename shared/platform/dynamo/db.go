package dynamo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/timestamp"
)

// A DB reads items and commits changes. It is safe for concurrent use.
type DB struct {
	api API
	now func() time.Time
}

// Open makes a DB with a client, and with the clock for all stored times.
func Open(api API, now func() time.Time) *DB { return &DB{api: api, now: now} }

// Now is the clock in UTC, truncated to milliseconds, as times are stored and shown.
func (db *DB) Now() time.Time { return db.now().UTC().Truncate(time.Millisecond) }

// A Key is an item's key; all key attributes are strings.
type Key map[string]string

func (k Key) item() map[string]types.AttributeValue {
	m := make(map[string]types.AttributeValue, len(k))
	for name, value := range k {
		m[name] = &types.AttributeValueMemberS{Value: value}
	}
	return m
}

// Get reads one item into out, strongly consistent. It does not change out if there is no such
// item. It returns UNAVAILABLE if the store does not answer.
func (db *DB) Get(ctx context.Context, table TableID, key Key, out any) (found bool, err error) {
	return db.get(ctx, table, key, out, true)
}

// GetEventually is Get at half the price. It may return an older state of the item, and may not
// find an item that was just made. DynamoDB promises no bound; usually it is less than a second.
func (db *DB) GetEventually(ctx context.Context, table TableID, key Key, out any) (found bool, err error) {
	return db.get(ctx, table, key, out, false)
}

func (db *DB) get(ctx context.Context, table TableID, key Key, out any, consistent bool) (found bool, err error) {
	res, err := db.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(table.Name()), Key: key.item(), ConsistentRead: aws.Bool(consistent)})
	if err != nil {
		return false, unavailable(ctx, false, fmt.Errorf("dynamo: get from %s: %w", table, err))
	}
	if res.Item == nil {
		return false, nil
	}
	return true, Decode(table, res.Item, out)
}

// Encode turns a struct into an item with the names of its json tags. So the names in the table
// and in the API are the same.
func Encode(v any) (map[string]types.AttributeValue, error) {
	item, err := attributevalue.MarshalMapWithOptions(v, encoding)
	if err != nil {
		return nil, fmt.Errorf("dynamo: encode %T: %w", v, err)
	}
	return item, nil
}

// Same reports whether two structs are stored as the same item. It compares all that is stored, so that nobody has to
// remember a new attribute.
func Same(a, b any) bool {
	one, err := Encode(a)
	other, err2 := Encode(b)
	return err == nil && err2 == nil && reflect.DeepEqual(one, other)
}

// encoding has the names of the json tags, and times in the form of package timestamp.
func encoding(o *attributevalue.EncoderOptions) {
	o.TagKey = "json"
	o.EncodeTime = func(t time.Time) (types.AttributeValue, error) {
		return &types.AttributeValueMemberS{Value: timestamp.Text(t)}, nil
	}
}

// Decode is the reverse of Encode, for an item of a table. Its error names the table, the key and the attribute.
func Decode(table TableID, item map[string]types.AttributeValue, out any) error {
	err := decode(item, out)
	if err == nil {
		learn(out, item)
		return nil
	}
	again := reflect.New(reflect.TypeOf(out).Elem())
	wrong := culprit(item, func(some map[string]types.AttributeValue) error { return decode(some, again.Interface()) })
	t, key := TableOf(table), text(item[TableOf(table).Partition])
	if t.Sort != "" {
		key += " " + text(item[t.Sort])
	}
	return fmt.Errorf("dynamo: item %q of %s: attribute %s: %w", key, table, wrong, err)
}

func decode(item map[string]types.AttributeValue, out any) error {
	return attributevalue.UnmarshalMapWithOptions(item, out, func(o *attributevalue.DecoderOptions) { o.TagKey = "json" })
}

// culprit returns the path of the first attribute that cannot be decoded.
func culprit(item map[string]types.AttributeValue, decode func(map[string]types.AttributeValue) error) string {
	for _, name := range slices.Sorted(maps.Keys(item)) {
		one := func(v types.AttributeValue) error { return decode(map[string]types.AttributeValue{name: v}) }
		if one(item[name]) == nil {
			continue
		}
		if m, ok := item[name].(*types.AttributeValueMemberM); ok {
			inner := culprit(m.Value, func(some map[string]types.AttributeValue) error {
				return one(&types.AttributeValueMemberM{Value: some})
			})
			if inner != "" {
				return name + "." + inner
			}
		}
		return name
	}
	return ""
}

// unavailable turns an error of the store into UNAVAILABLE or a timeout for the caller. An error
// that says that the request is wrong stays internal, because it is a fault of the service.
func unavailable(ctx context.Context, changing bool, err error) error {
	if ctx.Err() != nil {
		return problem.Wrap(err, problem.Timeout, "The service took too long to answer.%s", unknown(changing))
	}
	var validation interface{ ErrorCode() string }
	if errors.As(err, &validation) {
		switch validation.ErrorCode() {
		case "ValidationException", "AccessDeniedException", "ResourceNotFoundException",
			"UnrecognizedClientException", "IdempotentParameterMismatchException", "MissingAuthenticationTokenException":
			return err
		}
	}
	return problem.Wrap(err, problem.Unavailable, "The store is not available at the moment.%s Try again after the given time.", unknown(changing)).
		After(time.Second)
}

// unknown says that a failed change may have been made. For a failed read it is empty.
func unknown(changing bool) string {
	if changing {
		return " A change may or may not have been made; read before trying again."
	}
	return ""
}

var placeholder = regexp.MustCompile(`#\w+`)

// names maps the placeholders of expressions to attribute names: #status means status.
// Placeholders avoid DynamoDB's reserved words.
func names(expressions ...string) map[string]string {
	var m map[string]string
	for _, e := range expressions {
		for _, p := range placeholder.FindAllString(e, -1) {
			if m == nil {
				m = map[string]string{}
			}
			m[p] = p[1:]
		}
	}
	return m
}

// Together runs reads in parallel and returns the first error, which cancels the other reads.
func Together(ctx context.Context, reads ...func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, read := range reads {
		group.Go(func() error { return read(ctx) })
	}
	return group.Wait()
}
