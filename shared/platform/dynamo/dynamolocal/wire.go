package dynamolocal

import (
	"encoding/json"

	"github.com/truora/minidyn/server"
)

// An item holds attributes by their names; nil is no item.
type item map[string]*server.AttributeValue

// MarshalJSON writes empty lists, maps and binaries, too, which minidyn's own encoding drops.
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

// The answers that hold items.
type (
	itemAnswer struct {
		Item item `json:",omitempty"`
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

// pageOf makes the answer to a query or a scan. One that only counts has no items.
func pageOf(items []map[string]*server.AttributeValue, last item, countOnly bool) *pageAnswer {
	p := &pageAnswer{Count: int32(len(items)), LastEvaluatedKey: last}
	if !countOnly {
		for _, i := range items {
			p.Items = append(p.Items, i)
		}
	}
	return p
}
