package main

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/dynamo"
)

// A metered store adds up what the store says that single requests took.
type metered struct {
	dynamo.API

	mu          sync.Mutex
	requests    int
	read, write float64
}

func (m *metered) reset() { m.requests, m.read, m.write = 0, 0, 0 }

func (m *metered) took(c *types.ConsumedCapacity, writes bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	switch {
	case c == nil:
	case writes:
		m.write += aws.ToFloat64(c.CapacityUnits)
	default:
		m.read += aws.ToFloat64(c.CapacityUnits)
	}
}

func (m *metered) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.API.GetItem(ctx, in, o...)
	if err == nil {
		m.took(out.ConsumedCapacity, false)
	}
	return out, err
}

func (m *metered) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.API.Query(ctx, in, o...)
	if err == nil {
		m.took(out.ConsumedCapacity, false)
	}
	return out, err
}

func (m *metered) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.API.PutItem(ctx, in, o...)
	if err == nil {
		m.took(out.ConsumedCapacity, true)
	}
	return out, err
}
