package meter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamolocal"
)

// tables finds a table's definition by its name in the local store.
var tables = func() map[string]dynamo.Table {
	m := map[string]dynamo.Table{}
	for _, t := range dynamo.Tables {
		m[dynamolocal.TableName(t.ID)] = t
	}
	return m
}()

// A target is one item that a request writes.
type target struct {
	table  dynamo.Table
	name   string // the table's, in the store
	key    item
	before item
}

// A body is what the requests of the service have in common.
type body struct {
	TableName      string
	IndexName      string
	ConsistentRead bool
	Key            item
	Item           item
	TransactItems  []map[string]body
}

// targets lists the items that a request writes; those of a transaction are its parts.
func (b body) targets(operation string) []target {
	var list []target
	add := func(p body) {
		t := tables[p.TableName]
		key := p.Key
		if key == nil {
			key = item{t.Partition: p.Item[t.Partition]}
			if t.Sort != "" {
				key[t.Sort] = p.Item[t.Sort]
			}
		}
		list = append(list, target{table: t, name: p.TableName, key: key})
	}
	switch operation {
	case "UpdateItem", "PutItem", "DeleteItem":
		add(b)
	case "TransactWriteItems":
		for _, parts := range b.TransactItems {
			for _, p := range parts {
				add(p)
			}
		}
	}
	return list
}

// writeUnits is what a write of the item takes, its indexes included. The table, and a local index
// with it, takes a unit for each KB of the larger of what was there and what is there now, twice that
// in a transaction. A global index takes an ordinary write when what it shows changes, two when its
// key does: it is brought up to date afterwards, outside the transaction.
func (t target) writeUnits(after item, transaction bool) float64 {
	factor := 1.0
	if transaction {
		factor = 2
	}
	n := factor * units(max(t.before.size(), after.size()), writeUnit)
	for _, x := range t.table.Indexes {
		f := 1.0
		if x.Local {
			f = factor
		}
		n += f * indexWrites(indexed(t.before, x), indexed(after, x), x)
	}
	return n
}

// indexed is the item as the index shows it: whole, or not at all where it lacks a key.
func indexed(i item, x dynamo.Index) item {
	if i[x.Partition] == nil || i[x.Sort] == nil {
		return nil
	}
	return i
}

func indexWrites(before, after item, x dynamo.Index) float64 {
	same := func(names ...string) bool {
		for _, n := range names {
			if !bytes.Equal(before[n], after[n]) {
				return false
			}
		}
		return true
	}
	switch {
	case before == nil && after == nil:
		return 0
	case before == nil:
		return units(after.size(), writeUnit)
	case after == nil:
		return units(before.size(), writeUnit)
	case !same(x.Partition, x.Sort):
		return units(before.size(), writeUnit) + units(after.size(), writeUnit)
	case len(before) == len(after) && same(names(after)...):
		return 0
	}
	return units(max(before.size(), after.size()), writeUnit)
}

func names(i item) []string {
	var list []string
	for n := range i {
		list = append(list, n)
	}
	return list
}

// A reply is what answers of reads, and reports of capacity, look like.
type reply struct {
	Item             item
	Items            []item
	ConsumedCapacity struct{ CapacityUnits *float64 }
}

// readUnits is what a read took: a unit for each 4 KB of what was looked at, half that where the
// newest state is not asked for.
func (b body) readUnits(r reply) float64 {
	n := r.Item.size()
	for _, i := range r.Items {
		n += i.size()
	}
	if b.ConsistentRead {
		return units(n, readUnit)
	}
	return units(n, readUnit) / 2
}

// read takes an item out of the store itself, past the functions.
func (m *Meter) read(t target) (item, error) {
	ask, err := json.Marshal(map[string]any{"TableName": t.name, "Key": t.key, "ConsistentRead": true})
	if err != nil {
		return nil, err
	}
	q, err := http.NewRequest(http.MethodPost, "/", nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/x-amz-json-1.0")
	q.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	q.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/"+dynamolocal.Region+"/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	a, err := m.store.Ask(q, ask)
	if err != nil {
		return nil, err
	}
	if a.Status != http.StatusOK {
		return nil, fmt.Errorf("meter: reading an item: %s", strings.TrimSpace(string(a.Body)))
	}
	var r reply
	err = json.Unmarshal(a.Body, &r)
	return r.Item, err
}
