package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A row is a stored item, with its numbers as they are stored.
type row map[string]any

// UnmarshalDynamoDBAttributeValue reads an item.
func (r *row) UnmarshalDynamoDBAttributeValue(v types.AttributeValue) error {
	decoded, err := valueOf(v)
	if fields, is := decoded.(map[string]any); is {
		*r = fields
	}
	return err
}

func valueOf(v types.AttributeValue) (any, error) {
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
		for i, item := range v.Value {
			var err error
			if list[i], err = valueOf(item); err != nil {
				return nil, err
			}
		}
		return list, nil
	case *types.AttributeValueMemberM:
		fields := make(map[string]any, len(v.Value))
		for name, item := range v.Value {
			var err error
			if fields[name], err = valueOf(item); err != nil {
				return nil, err
			}
		}
		return fields, nil
	}
	return nil, fmt.Errorf("export: the service stores no %T", v)
}

// belongs reports whether an item is not another organization's. Most items name no organization: they belong to an
// item that does. A box's report names the box's owner, and may lag behind the box.
func belongs(organizationID string, r row) bool {
	owner, named := r["organizationId"].(string)
	return !named || owner == organizationID
}

func (r row) text(name string) string { s, _ := r[name].(string); return s }

// technical are attributes by which lists and filters find items. All of them repeat other attributes.
var technical = []string{
	"listKey", "pair", "shard", "stateKey", "place", "productMethod", "factoryStatus", "number", "part",
	"stream", "position", "streamResource", "streamActor", "streamResourceActor", "streamOrganization", "why", "override",
}

// public are the hashes that an export shows. It hides all others, because they may be of a token or of a code.
var public = []string{"sha256", "contentSha256", "trailSha256"}

// shown is a value of a row without secrets.
func shown(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = shown(item)
		}
		return list
	case map[string]any:
		fields := make(map[string]any, len(v))
		for name, item := range v {
			if tokens, is := item.(map[string]any); is && name == "tokens" {
				item = without(tokens, "current", "previous")
			}
			if !strings.HasSuffix(strings.ToLower(name), "sha256") || slices.Contains(public, name) {
				fields[name] = shown(item)
			}
		}
		return fields
	}
	return v
}

func without(fields map[string]any, names ...string) map[string]any {
	rest := make(map[string]any, len(fields))
	for name, item := range fields {
		if !slices.Contains(names, name) {
			rest[name] = item
		}
	}
	return rest
}

// line is an item's line in the export of an organization.
func (r row) line(kind, organizationID string) ([]byte, error) {
	value := without(r, technical...)
	for _, state := range []string{"before", "after"} { // of a box that moved here from another organization
		fields, _ := value[state].(map[string]any)
		if of, is := fields["organizationId"].(string); is && of != organizationID {
			delete(value, state)
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out) // it ends with a line feed
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		Kind  string `json:"kind"`
		Value any    `json:"value"`
	}{kind, shown(value)})
	return out.Bytes(), err
}
