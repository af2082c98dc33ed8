package contract_test

import (
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// TestDifferences_EveryDifference_IsFound changes one thing of a row at a time, so that it differs from the contract.
func TestDifferences_EveryDifference_IsFound(t *testing.T) {
	other := &input.Text{Pattern: `[a-z]{1,8}`}
	field := func(row *operations.Operation, name string) *input.Field {
		i := slices.IndexFunc(row.Takes.Body.Fields, func(f input.Field) bool { return f.Name == name })
		return &row.Takes.Body.Fields[i]
	}
	for name, c := range map[string]struct {
		id     string
		change func(*operations.Operation)
		says   string
	}{
		"nothing":              {"put-edge", func(*operations.Operation) {}, ""},
		"a status more":        {"put-edge", func(o *operations.Operation) { o.Gives = []int{200, 201, 204} }, "the contract has the successes [201 204]"},
		"a status less":        {"put-edge", func(o *operations.Operation) { o.Gives = o.Gives[:1] }, "the row [201]"},
		"a code more":          {"put-edge", func(o *operations.Operation) { o.Refuses = append(o.Refuses, problem.Frozen) }, "FROZEN"},
		"a code less":          {"put-edge", func(o *operations.Operation) { o.Refuses = nil }, "the contract has the problems"},
		"no body":              {"put-edge", func(o *operations.Operation) { o.Takes.Body = nil }, "it has a body: true in the contract"},
		"a body":               {"delete-edge", func(o *operations.Operation) { o.Takes.Body = &input.Shape{} }, "it has a body: false in the contract"},
		"a rule of the path":   {"put-edge", func(o *operations.Operation) { o.Takes.Path[0].Is = other }, "path edgeId has the pattern"},
		"a name in the path":   {"put-edge", func(o *operations.Operation) { o.Takes.Path[0].Name = "id" }, "the row does not have path edgeId"},
		"a parameter less":     {"list-edges", func(o *operations.Operation) { o.Takes.Query = o.Takes.Query[1:] }, "the row does not have query edgeType"},
		"a default":            {"list-edges", func(o *operations.Operation) { limit(o).Default = 25 }, "query limit is not"},
		"a bound":              {"list-edges", func(o *operations.Operation) { limit(o).Is = &input.Integer{Least: 1, Most: 99} }, "query limit is not"},
		"no conditions":        {"put-edge", func(o *operations.Operation) { o.Takes.Conditions = false }, "the row does not have header If-Match"},
		"a key":                {"put-edge", func(o *operations.Operation) { o.Takes.IdempotencyKey = true }, "the contract does not have header Idempotency-Key"},
		"a field less":         {"put-edge", func(o *operations.Operation) { o.Takes.Body.Fields = o.Takes.Body.Fields[1:] }, "the row does not have body.edgeType"},
		"a field more":         {"put-edge", func(o *operations.Operation) { field(o, "channel").Name = "line" }, "the contract does not have body.line"},
		"a rule of a field":    {"put-edge", func(o *operations.Operation) { field(o, "channel").Is = other }, "body.channel has the pattern"},
		"a type":               {"put-edge", func(o *operations.Operation) { field(o, "channel").Is = input.Boolean{} }, "body.channel is not a boolean"},
		"a field is optional":  {"put-edge", func(o *operations.Operation) { field(o, "channel").Required = false }, "body.channel is required: true in the contract"},
		"null is not taken":    {"put-edge", func(o *operations.Operation) { field(o, "issuer").Clearable = false }, "body.issuer has the type"},
		"an open body":         {"put-edge", func(o *operations.Operation) { o.Takes.Body.Open = true }, "body takes further fields"},
		"no choice":            {"update-rollout", func(o *operations.Operation) { o.Takes.Body.AnyOf = nil }, "body needs one of"},
		"a number of a choice": {"update-rollout", func(o *operations.Operation) { field(o, "staged_percent").Is = &input.Integer{OneOf: []int{1}} }, "body.staged_percent is not one of 1"},
		"the length of a list": {"put-machine", func(o *operations.Operation) { field(o, "classes").Is = &input.List{Of: input.Name, Most: 9} }, "body.classes is not a list of 0 to 9"},
		"the texts of a list":  {"put-machine", func(o *operations.Operation) { field(o, "classes").Is = &input.List{Of: other, Most: 20} }, "body.classes[] has the pattern"},
		"a nested field":       {"start-rollout", func(o *operations.Operation) { field(o, "policy").Is = &input.Shape{} }, "the row does not have body.policy.guard"},
		"a text that is trimmed": {"put-factory", func(o *operations.Operation) {
			field(o, "name").Is = &input.Text{Min: 1, Max: 199, Trim: true, Check: input.Visible}
		}, "body.name takes"},
	} {
		row := table.Get(c.id)
		row.Takes.Path, row.Takes.Query = slices.Clone(row.Takes.Path), slices.Clone(row.Takes.Query)
		if row.Takes.Body != nil {
			body := *row.Takes.Body
			body.Fields = slices.Clone(body.Fields)
			row.Takes.Body = &body
		}
		c.change(&row)
		found := strings.Join(differences(document(t).Paths.Value(pathOf(row)), inContract(t)[c.id], row), "; ")
		if c.says == "" && found != "" || !strings.Contains(found, c.says) {
			t.Errorf("%s: found %q, want %q", name, found, c.says)
		}
	}
}

func limit(row *operations.Operation) *input.Field {
	i := slices.IndexFunc(row.Takes.Query, func(f input.Field) bool { return f.Name == "limit" })
	return &row.Takes.Query[i]
}
