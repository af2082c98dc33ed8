package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A Selection is the items of one partition of a table or an index, in the byte order of its sort
// key.
type Selection struct {
	Table     TableID
	Index     string // empty: the table itself
	Partition string // the value of the partition key
	// Least and Most bound the sort key, both included. They are set together or not at all.
	Least, Most string
	Descending  bool
	// Eventually reads at half the price, perhaps what was there a moment ago. A global index is never
	// read otherwise.
	Eventually bool
}

// A Window is the part of a selection that is asked for: at most Limit items behind the first Skip, or
// behind the sort key Behind, in the selection's order. One of the two is given, or neither. A selection
// that is both bounded and descending takes no Behind.
type Window struct {
	Skip, Limit int
	Behind      string
}

// A Page is the part of a list that a window shows.
type Page[T any] struct {
	Items []T
	More  bool // there are items behind these
	// Last is the sort key of the last item, where More are behind it.
	Last string
}

// List reads a window of a selection, strongly consistent unless the selection goes by a global
// index. A page comes back full or last: only keys select, so nothing that is read is thrown away.
//
// One item more than the window shows is read, so that More is known without another request. What
// is skipped is counted by DynamoDB and not sent, but it is read and paid for: a read unit for each
// 4 KB (8 KB by a global index), in requests of 1 MB at most, one after another.
func List[T any](ctx context.Context, db *DB, s Selection, w Window) (Page[T], error) {
	if w.Behind != "" && s.Most != "" {
		s.Least, w.Behind = max(s.Least, w.Behind+"\x00"), "" // a range takes no third bound
	}
	if s.Least > s.Most {
		return Page[T]{}, nil // DynamoDB refuses bounds that cross
	}
	in := s.input(w.Behind)
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
			if err := Decode(item, &v); err != nil {
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

// sort is the name of the sort key.
func (s Selection) sort() string {
	if s.Index != "" {
		return TableOf(s.Table).index(s.Index).Sort
	}
	return TableOf(s.Table).Sort
}

// text is the value of a key attribute.
func text(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// input is the request for the selection, or for its part behind a sort key. A selection with bounds
// takes none.
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
	in.ExpressionAttributeNames = names(expr)
	return in
}

// skip moves the start of a request behind the first n items, and tells whether that is behind the
// last. DynamoDB has no offset: the items are counted.
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

// Walk hands every item of a selection to a function until the function returns an error. Behind the item
// with the key after, where that is set, it goes on. It reads so many items at once, or with 0 as many as
// DynamoDB gives, which are 1 MB. By a global index it hands over what the index holds.
func Walk[T any](ctx context.Context, db *DB, s Selection, after Key, atOnce int, each func(T) error) error {
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
			var v T
			if err := Decode(item, &v); err != nil {
				return err
			}
			if err := each(v); err != nil {
				return err
			}
		}
		if out.LastEvaluatedKey == nil {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// index returns the definition of an index. An unknown name is a slip in the code.
func (t Table) index(name string) Index {
	for _, x := range t.Indexes {
		if x.Name == name {
			return x
		}
	}
	panic("dynamo: no index " + name + " on " + string(t.ID))
}
