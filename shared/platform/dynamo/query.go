package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A Selection is the items of one partition of a table or an index, sorted by the bytes of the
// sort key.
type Selection struct {
	Table     TableID
	Index     string // empty means the table itself
	Partition string // the value of the partition key
	// Least and Most bound the sort key; both are included. Set both or neither.
	Least, Most string
	Descending  bool
	// With names an attribute that the items must have; empty: any item. Walk reads and pays for the others, too.
	With string
	// Eventually makes reads eventually consistent, at half the price. Reads of a global index
	// always are.
	Eventually bool
}

// A Span is the part of a selection to read: at most Limit items after the first Skip, or
// after the sort key After, in the selection's order. If both are set, After comes first. A
// selection that is both bounded and descending does not support After.
type Span struct {
	Skip, Limit int
	After       string
}

// A Page is the items of a window.
type Page[T any] struct {
	Items []T
	More  bool // whether items follow
	// Last is the sort key after which the next page begins, if More is set, and Skip the items that a Search still has to
	// skip there.
	Last string
	Skip int
}

// List reads a window of a selection. Reads are strongly consistent, except in a global index. A
// page is always full or the last one, because only keys select and no item is dropped.
//
// List reads one item more than it returns, to know More without another request. DynamoDB does not
// send the skipped items, but it reads and bills them. They cost one read unit for each 4 KB (8 KB
// in a global index), in sequential requests of at most 1 MB.
func List[T any](ctx context.Context, db *DB, s Selection, w Span) (Page[T], error) {
	if w.After != "" && s.Most != "" {
		s.Least, w.After = max(s.Least, w.After+"\x00"), "" // a range has no third bound
	}
	if s.Least > s.Most {
		return Page[T]{}, nil // DynamoDB refuses a lower bound above the upper one
	}
	in := s.input(w.After)
	if ended, err := db.skip(ctx, in, w.Skip); err != nil || ended {
		return Page[T]{}, err
	}
	in.Select = types.SelectAllAttributes
	var page Page[T]
	last := ""
	for {
		in.Limit = aws.Int32(int32(w.Limit + 1 - len(page.Items)))
		out, err := db.api.Query(ctx, in)
		if err != nil {
			return Page[T]{}, unavailable(ctx, false, fmt.Errorf("dynamo: query %s: %w", s.Table, err))
		}
		for _, item := range out.Items {
			if len(page.Items) == w.Limit {
				page.More, page.Last = true, last
				return page, nil
			}
			var v T
			if err := Decode(s.Table, item, &v); err != nil {
				return Page[T]{}, err
			}
			page.Items = append(page.Items, v)
			last = text(item[s.sort()])
		}
		if out.LastEvaluatedKey == nil {
			return page, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func (s Selection) sort() string {
	if s.Index != "" {
		return TableOf(s.Table).index(s.Index).Sort
	}
	return TableOf(s.Table).Sort
}

func text(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// input is the request for the selection, or for the part after a sort key. A selection with
// bounds does not support that.
func (s Selection) input(behind string) *dynamodb.QueryInput {
	table := TableOf(s.Table)
	partition, sort, consistent := table.Partition, table.Sort, true
	in := &dynamodb.QueryInput{TableName: aws.String(s.Table.Name()), ScanIndexForward: aws.Bool(!s.Descending)}
	if s.Index != "" {
		x := table.index(s.Index)
		partition, sort, consistent = x.Partition, x.Sort, x.Local
		in.IndexName = aws.String(x.Name)
	}
	if consistent && !s.Eventually {
		in.ConsistentRead = aws.Bool(true)
	}
	expr := "#" + partition + " = :partition"
	in.ExpressionAttributeValues = map[string]types.AttributeValue{":partition": &types.AttributeValueMemberS{Value: s.Partition}}
	if behind != "" {
		after := " > "
		if s.Descending {
			after = " < "
		}
		expr += " AND #" + sort + after + ":behind"
		in.ExpressionAttributeValues[":behind"] = &types.AttributeValueMemberS{Value: behind}
	}
	if s.Most != "" {
		expr += " AND #" + sort + " BETWEEN :least AND :most"
		in.ExpressionAttributeValues[":least"] = &types.AttributeValueMemberS{Value: s.Least}
		in.ExpressionAttributeValues[":most"] = &types.AttributeValueMemberS{Value: s.Most}
	}
	in.KeyConditionExpression = aws.String(expr)
	if s.With != "" {
		in.FilterExpression = aws.String("attribute_exists(#" + s.With + ")")
		expr += " #" + s.With
	}
	in.ExpressionAttributeNames = names(expr)
	return in
}

// skip moves the start of a request after the first n items, and reports whether no item follows.
// DynamoDB has no offset, so it counts the items.
func (db *DB) skip(ctx context.Context, in *dynamodb.QueryInput, n int) (ended bool, err error) {
	in.Select = types.SelectCount
	for n > 0 {
		in.Limit = aws.Int32(int32(n))
		out, err := db.api.Query(ctx, in)
		if err != nil {
			return false, unavailable(ctx, false, fmt.Errorf("dynamo: count in %s: %w", aws.ToString(in.TableName), err))
		}
		if out.LastEvaluatedKey == nil {
			return true, nil
		}
		n -= int(out.Count)
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
	return false, nil
}

// ErrEnough ends a walk without an error.
var ErrEnough = errors.New("dynamo: enough was read")

// Walk calls a function with every item of a selection until the function returns an error. It
// starts after the item with the key after, if that is set. atOnce is the number of items in one
// request; 0 means 1 MB. With a global index, items have only the attributes in the index.
func Walk[T any](ctx context.Context, db *DB, s Selection, after Key, atOnce int, each func(T) error) error {
	return walk(ctx, db, s, after, atOnce, func(item map[string]types.AttributeValue) error {
		var v T
		if err := Decode(s.Table, item, &v); err != nil {
			return err
		}
		return each(v)
	})
}

// WalkReadable is Walk over all items, except that an item that cannot be decoded does not end it. The
// function unreadable gets the item's key in the table and the cause.
func WalkReadable[T any](ctx context.Context, db *DB, s Selection, each func(T) error, unreadable func(key string, err error)) error {
	return walk(ctx, db, s, nil, 0, func(item map[string]types.AttributeValue) error {
		var v T
		if err := Decode(s.Table, item, &v); err != nil {
			unreadable(text(item[TableOf(s.Table).Partition]), err)
			return nil
		}
		return each(v)
	})
}

func walk(ctx context.Context, db *DB, s Selection, after Key, atOnce int, each func(map[string]types.AttributeValue) error) error {
	if s.Least > s.Most {
		return nil // as in List
	}
	in := s.input("")
	if atOnce > 0 {
		in.Limit = aws.Int32(int32(atOnce))
	}
	if after != nil {
		in.ExclusiveStartKey = after.item()
	}
	for {
		out, err := db.api.Query(ctx, in)
		if err != nil {
			return unavailable(ctx, false, fmt.Errorf("dynamo: query %s: %w", s.Table, err))
		}
		for _, item := range out.Items {
			switch err := each(item); {
			case errors.Is(err, ErrEnough):
				return nil
			case err != nil:
				return err
			}
		}
		if out.LastEvaluatedKey == nil {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// index returns the definition of an index. An unknown name is a mistake in the code.
func (t Table) index(name string) Index {
	for _, x := range t.Indexes {
		if x.Name == name {
			return x
		}
	}
	panic("dynamo: no index " + name + " on " + string(t.ID))
}
