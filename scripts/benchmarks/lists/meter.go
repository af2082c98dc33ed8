package main

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/dynamo"
)

// A meter adds up what the reads that go through it consume, as the store reports it.
type meter struct {
	dynamo.API
	mu       sync.Mutex
	requests int
	units    float64
}

func (m *meter) add(c *types.ConsumedCapacity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	if c != nil {
		m.units += aws.ToFloat64(c.CapacityUnits)
	}
}

func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests, m.units = 0, 0
}

func (m *meter) read() (requests int, units float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests, m.units
}

// GetItem is that of the store, metered.
func (m *meter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.API.GetItem(ctx, in, o...)
	if err == nil {
		m.add(out.ConsumedCapacity)
	}
	return out, err
}

// Query is that of the store, metered.
func (m *meter) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.API.Query(ctx, in, o...)
	if err == nil {
		m.add(out.ConsumedCapacity)
	}
	return out, err
}
