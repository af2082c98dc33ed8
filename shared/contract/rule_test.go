package contract_test

import (
	"fmt"
	"go/ast"
	"go/types"

	"wavegate/shared/platform/input"
)

// A rule is what the code says of a value that it reads: one of a text, of a number, or of the texts of a
// list; or it is an object, whose fields are values of their own.
type rule struct {
	strings     bool // a list of whatever; its strings are read
	list        bool
	least, most int64 // elements of a list
	object      bool
	text        *input.Text
	check       string // the function that text.Check is, such as input.Printable
	number      *input.Integer
}

// checks are the functions that a rule of a text may leave the last word to.
var checks = map[string]func(string) bool{
	"input.Printable": input.Printable,
	"input.Visible":   input.Visible,
	"input.isTime":    input.Time.Check,
}

// textRule reads a *input.Text from the source.
func (s *source) textRule(e term) (rule, error) {
	fields, err := s.fields(e, "Text")
	r := rule{text: &input.Text{}}
	for name, field := range fields {
		var ok bool
		switch name {
		case "Pattern":
			r.text.Pattern, ok = field.text()
		case "Says": // speaks to callers, and may be made at run time
			r.text.Says, _ = field.text()
			ok = true
		case "Min":
			r.text.Min, ok = field.small()
		case "Max":
			r.text.Max, ok = field.small()
		case "Trim":
			r.text.Trim, ok = field.boolean()
		case "Lower":
			r.text.Lower, ok = field.boolean()
		case "Check":
			if f := field.object(); f != nil {
				r.check = f.Pkg().Name() + "." + f.Name()
			}
			r.text.Check, ok = checks[r.check]
		}
		if !ok {
			return rule{}, fmt.Errorf("%s: %s of a input.Text is new to this test, or no constant", e, name)
		}
	}
	return r, err
}

// numberRule reads a *input.Integer from the source.
func (s *source) numberRule(e term) (rule, error) {
	fields, err := s.fields(e, "Integer")
	r := rule{number: &input.Integer{}}
	for name, field := range fields {
		var ok bool
		switch name {
		case "Least":
			r.number.Least, ok = field.integer()
		case "Most":
			r.number.Most, ok = field.integer()
		case "OneOf":
			r.number.OneOf, ok = s.list(field)
		}
		if !ok {
			return rule{}, fmt.Errorf("%s: %s of a input.Integer is new to this test, or no constant", e, name)
		}
	}
	return r, err
}

// fields are the fields of a rule's literal, by their names.
func (s *source) fields(e term, of string) (map[string]term, error) {
	literal, info := s.composite(e)
	if literal == nil || !isNamed(info.TypeOf(literal), inputPackage, of) {
		return nil, fmt.Errorf("%s is neither a literal of value.%s nor a variable of a package that begins as one", e, of)
	}
	fields := map[string]term{}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return nil, fmt.Errorf("%s does not name its fields", e)
		}
		fields[types.ExprString(pair.Key)] = term{pair.Value, info}
	}
	return fields, nil
}

// list reads a slice of constant numbers.
func (s *source) list(e term) ([]int, bool) {
	literal, info := s.composite(e)
	if literal == nil {
		return nil, false
	}
	var all []int
	for _, element := range literal.Elts {
		n, ok := term{element, info}.small()
		if !ok {
			return nil, false
		}
		all = append(all, n)
	}
	return all, true
}
