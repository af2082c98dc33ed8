package golden

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A Plain is an item as JSON: strings, numbers (json.Number), booleans, null, lists and maps. The service stores no
// other types.
type Plain = map[string]any

// PlainOf turns an item into JSON.
func PlainOf(item map[string]types.AttributeValue) (Plain, error) {
	m := make(Plain, len(item))
	for name, v := range item {
		x, err := plainOf(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m[name] = x
	}
	return m, nil
}

func plainOf(v types.AttributeValue) (any, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value, nil
	case *types.AttributeValueMemberN:
		return json.Number(v.Value), nil
	case *types.AttributeValueMemberBOOL:
		return v.Value, nil
	case *types.AttributeValueMemberNULL:
		return nil, nil
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i, x := range v.Value {
			var err error
			if list[i], err = plainOf(x); err != nil {
				return nil, fmt.Errorf("%d: %w", i, err)
			}
		}
		return list, nil
	case *types.AttributeValueMemberM:
		return PlainOf(v.Value)
	}
	return nil, fmt.Errorf("the type %T is not used by the service", v)
}

// Encoded is the reverse of PlainOf.
func Encoded(p Plain) map[string]types.AttributeValue {
	item := make(map[string]types.AttributeValue, len(p))
	for name, v := range p {
		item[name] = encoded(v)
	}
	return item
}

func encoded(v any) types.AttributeValue {
	switch v := v.(type) {
	case string:
		return &types.AttributeValueMemberS{Value: v}
	case json.Number:
		return &types.AttributeValueMemberN{Value: v.String()}
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}
	case []any:
		list := make([]types.AttributeValue, len(v))
		for i, x := range v {
			list[i] = encoded(x)
		}
		return &types.AttributeValueMemberL{Value: list}
	case Plain:
		return &types.AttributeValueMemberM{Value: Encoded(v)}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}

// typeOf is DynamoDB's name of a value's type.
func typeOf(v any) string {
	switch v.(type) {
	case string:
		return "S"
	case json.Number:
		return "N"
	case bool:
		return "BOOL"
	case []any:
		return "L"
	case Plain:
		return "M"
	}
	return "NULL"
}
