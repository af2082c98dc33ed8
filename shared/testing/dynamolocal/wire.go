package dynamolocal

import (
	"encoding/json"

	"github.com/truora/minidyn/server"
)

// An item is attributes by name; nil means that there is no item.
type item map[string]*server.AttributeValue

// MarshalJSON also writes empty lists, maps and binaries, which minidyn's own encoding drops.
func (i item) MarshalJSON() ([]byte, error) {
	m := make(map[string]any, len(i))
	for name, v := range i {
		m[name] = wire(v)
	}
	return json.Marshal(m)
}

func wire(v *server.AttributeValue) any {
	switch {
	case v.L != nil:
		list := make([]any, len(v.L))
		for i, x := range v.L {
			list[i] = wire(x)
		}
		return map[string]any{"L": list}
	case v.M != nil:
		return map[string]any{"M": item(v.M)}
	case v.B != nil:
		return map[string]any{"B": v.B}
	}
	return v
}

// These are the answers that contain items.
type (
	itemAnswer struct {
		Item item `json:",omitempty"`
	}
	batchAnswer struct {
		Responses map[string][]item
	}
	attributesAnswer struct {
		Attributes item `json:",omitempty"`
	}
	pageAnswer struct {
		Items            []item `json:",omitempty"`
		Count            int32
		LastEvaluatedKey item `json:",omitempty"`
	}
)

// pageOf makes the answer to a query or a scan. An answer that only counts has no items.
func pageOf(items []map[string]*server.AttributeValue, last item, countOnly bool) *pageAnswer {
	p := &pageAnswer{Count: int32(len(items)), LastEvaluatedKey: last}
	if !countOnly {
		for _, i := range items {
			p.Items = append(p.Items, i)
		}
	}
	return p
}
