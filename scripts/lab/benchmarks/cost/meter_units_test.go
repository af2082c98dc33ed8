package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
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
	name   string // of the table in the store
	key    item
	before item
}

// A body has the fields that the service's requests use.
type body struct {
	TableName      string
	IndexName      string
	ConsistentRead bool
	Key            item
	Item           item
	TransactItems  []map[string]body
	RequestItems   map[string]body // of a batch of reads
}

// targets lists the items that a request writes.
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

// writeUnits is the number of units for a write of the item, including its indexes. The table and each local index
// take one unit for each KB of the larger of the old and the new item, and twice that in a transaction. A global
// index takes an ordinary write when the item changes, and two when its key changes: it is updated after the
// transaction.
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

// indexed returns the index's copy of the item: the whole item, or nothing if it lacks a key.
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
	case len(before) == len(after) && same(slices.Collect(maps.Keys(after))...):
		return 0
	}
	return units(max(before.size(), after.size()), writeUnit)
}

// A reply has the fields of a read's answer and of a report of capacity.
type reply struct {
	Item             item
	Items            []item
	Responses        map[string][]item // of a batch of reads
	ConsumedCapacity json.RawMessage   // a list for a batch, otherwise a single value
}

// reported is the capacity that the store reports, or nil.
func (r reply) reported() *float64 {
	type capacity struct{ CapacityUnits *float64 }
	var one capacity
	var all []capacity
	if json.Unmarshal(r.ConsumedCapacity, &one) == nil {
		return one.CapacityUnits
	}
	if json.Unmarshal(r.ConsumedCapacity, &all) == nil && len(all) == 1 {
		return all[0].CapacityUnits
	}
	return nil
}

// readUnits is the number of units of a read: one for each 4 KB of the items, and half of that if the read is not
// consistent.
func (b body) readUnits(r reply) float64 {
	if len(b.RequestItems) > 0 { // each item is a separate read
		sum := 0.0
		for table, asked := range b.RequestItems {
			for _, i := range r.Responses[table] {
				sum += asked.readUnits(reply{Item: i})
			}
		}
		return sum
	}
	n := r.Item.size()
	for _, i := range r.Items {
		n += i.size()
	}
	if b.ConsistentRead {
		return units(n, readUnit)
	}
	return units(n, readUnit) / 2
}

// read reads an item from the store, without counting it.
func (m *meter) read(t target) (item, error) {
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
