package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/local/store"
	"wavegate/shared/dynamo"
)

// pollsMetered is how many polls the units are of.
const pollsMetered = 1000

// units measures on the reference store.
func units(ctx context.Context, functions string, reference *store.Store) error {
	m, err := newMeter(ctx, reference.Endpoint)
	if err != nil {
		return err
	}
	defer func() { _ = m.close() }()
	keys, err := os.MkdirTemp("", "wavegate-polls")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(keys) }()
	w, err := start(ctx, functions, keys, store.External(m.url), 10)
	if err != nil {
		return err
	}
	defer w.Stop()

	m.reset()
	for i := range pollsMetered {
		if _, err := w.poll(ctx, w.boxes[i%len(w.boxes)], ""); err != nil {
			return err
		}
	}
	fmt.Printf("\nRequests and capacity units of %d polls, as DynamoDB Local reports them.\n\n", pollsMetered)
	fmt.Println("| request | requests | units | units a poll |")
	fmt.Println("|---|---|---|---|")
	for _, kind := range m.kinds() {
		c := m.of(kind)
		if c.units == 0 {
			continue // a process that starts opens its connection with a request that takes nothing
		}
		fmt.Printf("| %s | %d | %.1f | %.3f |\n", kind, c.requests, c.units, c.units/pollsMetered)
	}
	return promotions(ctx, w, m)
}

// promotions starts a rollout and promotes it, with more and more boxes registered.
func promotions(ctx context.Context, w *world, m *meter) error {
	sizes := []int{10, 10_000}
	if os.Getenv("LONG") != "" {
		sizes = append(sizes, 1_000_000)
	}
	fmt.Print("\nRequests to DynamoDB that one promotion makes, the limiter's left out.\n\n")
	fmt.Println("| registered boxes | start | 1 to 10 | 10 to 50 | 50 to 100 | complete | of which transactions, each |")
	fmt.Println("|---|---|---|---|---|---|---|")
	boxes := len(w.boxes)
	for _, size := range sizes {
		if err := load(ctx, w, boxes, size); err != nil {
			return err
		}
		boxes = size
		cells := []string{fmt.Sprint(size)}
		transactions := map[string]bool{}
		var rollout string
		for _, step := range []string{"", `{"staged_percent":10}`, `{"staged_percent":50}`, `{"staged_percent":100}`, `{"status":"completed"}`} {
			m.reset()
			var header http.Header
			var err error
			if step == "" {
				header, err = w.call(ctx, http.MethodPost, "/api/ota/rollouts", w.owner,
					`{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0"}`, http.StatusCreated)
				rollout = header.Get("Location")
			} else {
				_, err = w.call(ctx, http.MethodPatch, rollout, w.owner, step, http.StatusNoContent)
			}
			if err != nil {
				return err
			}
			cells = append(cells, fmt.Sprint(m.total("").requests-m.total("UpdateItem").requests))
			transactions[fmt.Sprint(m.total("TransactWriteItems").requests)] = true
		}
		var each []string
		for n := range transactions {
			each = append(each, n)
		}
		fmt.Printf("| %s | %s |\n", strings.Join(cells, " | "), strings.Join(each, ", "))
	}
	return nil
}

// load registers boxes past the service, from so many to so many: what is measured is not this.
func load(ctx context.Context, w *world, from, to int) error {
	const batch = 25
	var next atomic.Int64
	next.Store(int64(from))
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range 4 {
		wg.Go(func() {
			for {
				first := int(next.Add(batch)) - batch
				if first >= to {
					return
				}
				if err := loadBatch(ctx, w.DB, first, min(first+batch, to)); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	wg.Wait()
	return failed
}

func loadBatch(ctx context.Context, db *dynamodb.Client, from, to int) error {
	var puts []types.WriteRequest
	for i := from; i < to; i++ {
		item := map[string]types.AttributeValue{}
		for name, value := range map[string]string{"edgeId": fmt.Sprintf("box-%04d", i+1), "edgeType": "gateway-x", "channel": "stable",
			"pair": "gateway-x/stable", "organizationId": "acme", "createdAt": "2026-03-01T12:00:00Z", "updatedAt": "2026-03-01T12:00:00Z"} {
			item[name] = &types.AttributeValueMemberS{Value: value}
		}
		item["revision"] = &types.AttributeValueMemberN{Value: "1"}
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
	}
	requests := map[string][]types.WriteRequest{store.TableName(dynamo.Edges): puts}
	for len(requests) > 0 {
		out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: requests})
		if err != nil {
			return err
		}
		requests = out.UnprocessedItems
	}
	return nil
}
