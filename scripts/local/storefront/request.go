package storefront

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"wavegate/shared/platform/dynamo"
)

// A Use is one permission that a call uses. Each part of a transaction or batch is a Use, with the permission that
// IAM requires: the Put in a TransactWriteItems is a PutItem.
type Use struct {
	Table  string // its name in the store
	Action dynamo.Permission
	Index  string // empty means the table itself
}

// target is a table, and for a query an index, in the body of a call.
type target struct {
	TableName string
	IndexName string
}

// body is the part of a call's body that matters for permissions.
type body struct {
	target
	TransactItems []map[string]target
	RequestItems  map[string]json.RawMessage
}

// parts maps the members of a transaction to their actions.
var parts = map[string]dynamo.Permission{
	"Put":            dynamo.Put,
	"Update":         dynamo.Update,
	"Delete":         dynamo.Delete,
	"ConditionCheck": dynamo.ConditionCheck,
	"Get":            dynamo.Get,
}

func uses(operation string, raw []byte) ([]Use, error) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("storefront: the body of %s is not a JSON object: %w", operation, err)
	}
	switch operation {
	case "TransactWriteItems", "TransactGetItems":
		var all []Use
		for _, item := range b.TransactItems {
			for part, t := range item {
				action, known := parts[part]
				if !known {
					return nil, fmt.Errorf("storefront: unknown part %q of %s", part, operation)
				}
				all = append(all, Use{Table: t.TableName, Action: action})
			}
		}
		return all, nil
	case "BatchGetItem", "BatchWriteItem":
		// In IAM both have their own name.
		var all []Use
		for table := range b.RequestItems {
			all = append(all, Use{Table: table, Action: dynamo.Permission(operation)})
		}
		return all, nil
	}
	if b.TableName == "" {
		return nil, errors.New("storefront: " + operation + " names no table")
	}
	return []Use{{Table: b.TableName, Action: dynamo.Permission(operation), Index: b.IndexName}}, nil
}

// operation is the name after the dot of "DynamoDB_20120810.GetItem".
func operation(r *http.Request) string {
	_, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return name
}

// accessKey reads the key id from a SigV4 Authorization header: "AWS4-HMAC-SHA256
// Credential=<key id>/<date>/<region>/dynamodb/aws4_request, …". It does not check the
// signature, because a local run has no secret.
func accessKey(r *http.Request) string {
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(credential, "/")
	return key
}
