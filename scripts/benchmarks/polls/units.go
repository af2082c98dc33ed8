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
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/benchmarks/calls"
	"wavegate/scripts/benchmarks/meter"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamolocal"
)

// pollsMetered is how many polls the units are of.
const pollsMetered = 1000

// quiet is how long the meter waits for requests of the same round trip.
const quiet = 2 * time.Millisecond

// units counts many polls together, the reads of the channel's row that fall between them included.
func units(w *world, m *meter.Meter) error {
	receipts := map[string]string{}
	for _, id := range w.boxes { // processes that start and first polls are not counted
		for try := 0; receipts[id] == ""; try++ {
			a, err := w.Must(calls.Request{Caller: calls.Box(id), Method: http.MethodGet, Path: manifestPath(id)})
			if err != nil {
				return err
			}
			if receipts[id] = a.Header.Get("ETag"); try == 20 {
				return fmt.Errorf("%s is given no receipt", id)
			}
		}
	}
	u, err := m.Measure(quiet, func() error {
		for i := range pollsMetered {
			id := w.boxes[i%len(w.boxes)]
			a, err := w.Do(calls.Request{Caller: calls.Box(id), Method: http.MethodGet, Path: manifestPath(id), Header: [2]string{"If-None-Match", receipts[id]}})
			if err == nil && a.Status != http.StatusNotModified {
				err = fmt.Errorf("%s was answered with %d: %s", id, a.Status, a.Body)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("\nRequests to DynamoDB and capacity units of %d polls to which nothing is new (304), one after another.\n\n", pollsMetered)
	fmt.Println("| | all | a poll |")
	fmt.Println("|---|---|---|")
	for _, row := range []struct {
		name  string
		count float64
	}{{"requests", float64(u.Requests)}, {"read units", u.Read}, {"write units", u.Write}} {
		fmt.Printf("| %s | %g | %.3f |\n", row.name, row.count, row.count/pollsMetered)
	}
	if len(u.Disagreements) > 0 {
		return fmt.Errorf("the store reports other units: %q", u.Disagreements)
	}
	return nil
}

// promotions takes a rollout through its stages, with more and more boxes registered.
func promotions(ctx context.Context, w *world, m *meter.Meter) error {
	sizes := []int{10, 10_000}
	if os.Getenv("LONG") != "" {
		sizes = append(sizes, 1_000_000)
	}
	fmt.Print("\nRequests to DynamoDB that each step of a rollout makes, the limiter's included.\n\n")
	fmt.Println("| registered boxes | start | 1 to 10 | 10 to 50 | 50 to 100 | complete |")
	fmt.Println("|---|---|---|---|---|---|")
	boxes := len(w.boxes)
	for _, size := range sizes {
		if err := load(ctx, w, boxes, size); err != nil {
			return err
		}
		boxes = size
		cells := []string{fmt.Sprint(size)}
		rollout := ""
		for _, step := range []string{"", `{"staged_percent":10}`, `{"staged_percent":50}`, `{"staged_percent":100}`, `{"status":"completed"}`} {
			u, err := m.Measure(quiet, func() (err error) {
				if step != "" {
					_, err = w.owner(http.MethodPatch, rollout, step)
					return err
				}
				a, err := w.owner(http.MethodPost, "/api/ota/rollouts", `{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0"}`)
				rollout = a.Header.Get("Location")
				return err
			})
			if err != nil {
				return err
			}
			cells = append(cells, fmt.Sprint(u.Requests))
		}
		fmt.Printf("| %s |\n", strings.Join(cells, " | "))
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
	requests := map[string][]types.WriteRequest{dynamolocal.TableName(dynamo.Edges): puts}
	for len(requests) > 0 {
		out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: requests})
		if err != nil {
			return err
		}
		requests = out.UnprocessedItems
	}
	return nil
}
