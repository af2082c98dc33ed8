package contract_test

import (
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
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
		"a rule of the path":   {"put-edge", func(o *operations.Operation) { o.Takes.Path[0].Is = other }, "path edgeId has the pattern"},
		"a default":            {"list-edges", func(o *operations.Operation) { limit(o).Default = 25 }, "query limit is not"},
		"a bound":              {"list-edges", func(o *operations.Operation) { limit(o).Is = &input.Integer{Least: 1, Most: 99} }, "query limit is not"},
		"a rule of a field":    {"put-edge", func(o *operations.Operation) { field(o, "channel").Is = other }, "body.channel has the pattern"},
		"a type":               {"put-edge", func(o *operations.Operation) { field(o, "channel").Is = input.Boolean{} }, "body.channel is not a boolean"},
		"null is not taken":    {"put-edge", func(o *operations.Operation) { field(o, "issuer").Clearable = false }, "body.issuer has the type"},
		"no choice":            {"update-rollout", func(o *operations.Operation) { o.Takes.Body.AnyOf = nil }, "body needs one of"},
		"a number of a choice": {"update-rollout", func(o *operations.Operation) { field(o, "staged_percent").Is = &input.Integer{OneOf: []int{1}} }, "body.staged_percent is not one of 1"},
		"the length of a list": {"put-machine", func(o *operations.Operation) { field(o, "classes").Is = &input.List{Of: input.Name, Most: 9} }, "body.classes is not a list of 0 to 9"},
		"the texts of a list":  {"put-machine", func(o *operations.Operation) { field(o, "classes").Is = &input.List{Of: other, Most: 20} }, "body.classes[] has the pattern"},
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
