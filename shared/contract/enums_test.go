package contract_test

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/shared/contract"
	"wavegate/shared/testing/expect"
)

const extensible = "x-extensible-enum"

// TestEnums_OfAnswers_AreOpen_OfRequestsClosed: a generated client fails on a value that an enum does not list, and a
// new problem code must not break clients.
func TestEnums_OfAnswers_AreOpen_OfRequestsClosed(t *testing.T) {
	// As callers read it: conform.Load treats open enumerations as closed.
	doc := expect.Value(openapi3.NewLoader().LoadFromData(contract.Document))(t)
	open, closed := 0, 0
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, schema := range requestSchemas(item, op) {
				eachSchema(schema, map[*openapi3.Schema]bool{}, func(s *openapi3.Schema) {
					if s.Enum != nil {
						closed++
					}
					if s.Extensions[extensible] != nil {
						t.Errorf("a request of %s has an enumeration that is open: %v", op.OperationID, s.Extensions[extensible])
					}
				})
			}
			for _, schema := range answerSchemas(op) {
				eachSchema(schema, map[*openapi3.Schema]bool{}, func(s *openapi3.Schema) {
					if s.Extensions[extensible] != nil {
						open++
					}
					if s.Enum != nil {
						t.Errorf("an answer of %s has an enumeration that is closed: %v", op.OperationID, s.Enum)
					}
				})
			}
		}
	}
	expect.That(t, open >= 50 && closed >= 3, "there are %d open enumerations and %d closed ones", open, closed)
}

func requestSchemas(item *openapi3.PathItem, op *openapi3.Operation) []*openapi3.SchemaRef {
	var schemas []*openapi3.SchemaRef
	for _, parameters := range []openapi3.Parameters{item.Parameters, op.Parameters} {
		for _, p := range parameters {
			schemas = append(schemas, p.Value.Schema)
		}
	}
	if op.RequestBody != nil {
		for _, media := range op.RequestBody.Value.Content {
			schemas = append(schemas, media.Schema)
		}
	}
	return schemas
}

func answerSchemas(op *openapi3.Operation) []*openapi3.SchemaRef {
	var schemas []*openapi3.SchemaRef
	for _, r := range op.Responses.Map() {
		for _, media := range r.Value.Content {
			schemas = append(schemas, media.Schema)
		}
		for _, h := range r.Value.Headers {
			schemas = append(schemas, h.Value.Schema)
		}
	}
	return schemas
}

// eachSchema visits a schema and everything in it.
func eachSchema(ref *openapi3.SchemaRef, seen map[*openapi3.Schema]bool, visit func(*openapi3.Schema)) {
	if ref == nil || ref.Value == nil || seen[ref.Value] {
		return
	}
	s := ref.Value
	seen[s] = true
	visit(s)
	for _, parts := range []openapi3.SchemaRefs{s.AllOf, s.AnyOf, s.OneOf} {
		for _, part := range parts {
			eachSchema(part, seen, visit)
		}
	}
	for _, property := range s.Properties {
		eachSchema(property, seen, visit)
	}
	eachSchema(s.Items, seen, visit)
	eachSchema(s.AdditionalProperties.Schema, seen, visit)
}
