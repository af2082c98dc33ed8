package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/local/storefront"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/golden"
)

// A place is the key of an item that a function wrote or tried to write.
type place struct {
	table           dynamo.TableID
	partition, sort string
}

// writes collects the places that functions write.
type writes struct {
	mu     sync.Mutex
	places map[place]bool
}

// watch collects what all functions write from now on.
func watch(f *storefront.Front) *writes {
	ws := &writes{places: map[place]bool{}}
	f.Intercept(func(c *storefront.Call) storefront.Effect {
		switch c.Operation {
		case "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems":
			var body any
			if err := json.Unmarshal(c.Body, &body); err == nil { // otherwise the store refuses it
				ws.mu.Lock()
				defer ws.mu.Unlock()
				ws.add(body)
			}
		}
		return storefront.Effect{}
	})
	return ws
}

// add finds every item or key beside the name of its table.
func (ws *writes) add(body any) {
	switch body := body.(type) {
	case []any:
		for _, x := range body {
			ws.add(x)
		}
	case map[string]any:
		name, named := body["TableName"].(string)
		if !named {
			for _, x := range body {
				ws.add(x)
			}
			return
		}
		table := dynamo.TableOf(dynamo.TableID(strings.TrimPrefix(name, dynamolocal.TableName(""))))
		item, _ := body["Item"].(map[string]any)
		if item == nil {
			item, _ = body["Key"].(map[string]any)
		}
		text := func(name string) string {
			v, _ := item[name].(map[string]any)
			s, _ := v["S"].(string)
			return s
		}
		p := place{table: table.ID, partition: text(table.Partition)}
		if table.Sort != "" {
			p.sort = text(table.Sort)
		}
		ws.places[p] = true
	}
}

// take returns the places written since the last time.
func (ws *writes) take() []place {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	all := slices.SortedFunc(maps.Keys(ws.places), func(a, b place) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	clear(ws.places)
	return all
}

func (p place) key() golden.Plain {
	t := dynamo.TableOf(p.table)
	key := golden.Plain{t.Partition: p.partition}
	if t.Sort != "" {
		key[t.Sort] = p.sort
	}
	return key
}

// get reads the item at a place; nil if there is none.
func (p place) get(ctx context.Context, db *dynamodb.Client) (golden.Plain, error) {
	out, err := db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(dynamolocal.TableName(p.table)),
		Key: golden.Encoded(p.key()), ConsistentRead: aws.Bool(true)})
	if err != nil || out.Item == nil {
		return nil, err
	}
	return golden.PlainOf(out.Item)
}

// set adds an attribute to the item at a place, which must exist.
func (p place) set(ctx context.Context, db *dynamodb.Client, name string, value any) error {
	_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(dynamolocal.TableName(p.table)), Key: golden.Encoded(p.key()),
		UpdateExpression: aws.String("SET #name = :value"), ConditionExpression: aws.String("attribute_exists(#key)"),
		ExpressionAttributeNames:  map[string]string{"#name": name, "#key": dynamo.TableOf(p.table).Partition},
		ExpressionAttributeValues: map[string]types.AttributeValue{":value": golden.Encoded(golden.Plain{"": value})[""]},
	})
	return err
}
