package contract_test

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"

	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/value"
)

// read records what a function of package request or fields reads.
func (w *walk) read(method string, call *ast.CallExpr, in scope) {
	w.reached[call] = true
	arguments := make([]term, len(call.Args))
	for i, argument := range call.Args {
		arguments[i] = in.resolve(argument)
	}
	name := func(i int) string {
		text, ok := arguments[i].text()
		if !ok {
			w.fault("%s(%s): the name is no constant", method, arguments[i])
		}
		return w.inside + text
	}
	bound := func(i int) int64 {
		n, ok := arguments[i].integer()
		if !ok {
			w.fault("%s(%s): the bound is no constant", method, arguments[i])
		}
		return n
	}
	text := func(where string, required bool) {
		one := input{in: where, name: name(0), required: required}
		var err error
		if one.rule, one.fallback, err = w.ruleOf(arguments[1]); err != nil {
			w.fault("%s(%q): %w", method, one.name, err)
		}
		w.found.inputs = append(w.found.inputs, one)
	}
	switch method {
	case "Path":
		text("path", true)
	case "Query":
		text("query", false)
	case "QueryInteger":
		fallback := bound(3)
		w.found.inputs = append(w.found.inputs, input{in: "query", name: name(0),
			rule: rule{number: &value.Integer{Least: bound(1), Most: bound(2)}}, fallback: &fallback})
	case "QueryList":
		one := input{in: "query", name: name(0)}
		var err error
		if one.rule, err = w.textRule(arguments[2]); err != nil {
			w.fault("%s(%q): %w", method, one.name, err)
		}
		one.list, one.most = true, bound(1)
		w.found.inputs = append(w.found.inputs, one)
	case "IdempotencyKey":
		w.found.inputs = append(w.found.inputs, input{in: "header", name: "Idempotency-Key"})
	case "Preconditions":
		w.found.inputs = append(w.found.inputs, input{in: "header", name: "If-Match"}, input{in: "header", name: "If-None-Match"})
	case "Body", "BodyWith":
		w.found.body = true
	case "RequiredQuery":
		text("query", true)
	case "Text":
		text("body", true)
	case "OptionalText":
		text("body", false)
	case "ClearableText":
		text("body", false)
		w.found.inputs[len(w.found.inputs)-1].clearable = true
	case "OptionalInteger", "Integer":
		one := input{in: "body", name: name(0), required: method == "Integer"}
		var err error
		if one.rule, err = w.numberRule(arguments[1]); err != nil {
			w.fault("%s(%q): %w", method, one.name, err)
		}
		w.found.inputs = append(w.found.inputs, one)
	case "Require":
		var names []string
		for i := range arguments {
			names = append(names, name(i))
		}
		w.found.choices = append(w.found.choices, names)
	case "Texts":
		one := input{in: "body", name: name(0)}
		var err error
		if one.rule, err = w.textRule(arguments[3]); err != nil {
			w.fault("%s(%q): %w", method, one.name, err)
		}
		one.list, one.least, one.most = true, bound(1), bound(2)
		w.found.inputs = append(w.found.inputs, one)
	case "Strings":
		w.found.inputs = append(w.found.inputs, input{in: "body", name: name(0), rule: rule{strings: true}})
	case "Open":
		w.found.open = append(w.found.open, strings.TrimSuffix(w.inside, "."))
	case "Object", "RequiredObject":
		w.found.inputs = append(w.found.inputs, input{in: "body", name: name(0), required: method == "RequiredObject", rule: rule{object: true}})
		inside, ok := call.Args[1].(*ast.FuncLit)
		if !ok {
			w.fault("%s(%q): the function is not written out", method, name(0))
			return
		}
		was := w.inside
		w.inside = name(0) + "."
		w.block(inside.Body, in)
		w.inside, w.followed[inside] = was, true
	case "Objects":
		w.found.inputs = append(w.found.inputs, input{in: "body", name: name(0), rule: rule{object: true, list: true, least: bound(1), most: bound(2)}})
		inside, ok := call.Args[3].(*ast.FuncLit)
		if !ok {
			w.fault("%s(%q): the function is not written out", method, name(0))
			return
		}
		was := w.inside
		w.inside = name(0) + "[]."
		w.block(inside.Body, in)
		w.inside, w.followed[inside] = was, true
	case "Missing":
		for i, one := range w.found.inputs {
			if one.in == "body" && one.name == name(0) && one.object && one.list {
				w.found.inputs[i].required = true
			}
		}
	case "Err", "Fault", "BoundBody", "Refuse", "Revision", "Check", "NotModified", "Of":
	default:
		w.fault("request.%s is new to this test; say here what it reads", method)
	}
}

// TestReads_EveryReadOfTheCode_IsReached finds a value that is read where no operation was followed to, so
// that nothing compares it with the contract.
func TestReads_EveryReadOfTheCode_IsReached(t *testing.T) {
	s := code(t)
	if _, err := s.operations(); err != nil {
		t.Fatal(err)
	}
	for path, p := range s.packages {
		if path == requestPackage || path == fieldsPackage || path == contentPackage || path == guardPackage || path == sample {
			continue
		}
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || s.reached[call] {
					return true
				}
				if f := calleeOf(p.TypesInfo, call); f != nil && f.Name() != "BoundBody" && f.Signature().Recv() != nil && handsOn(f.Signature().Recv().Type()) {
					t.Errorf("%s: no operation was followed to %s", p.Fset.Position(call.Pos()), types.ExprString(call))
				}
				return true
			})
		}
	}
}

// ruleOf is the rule that a text is read by. An offset is a number that is read as a text.
func (w *walk) ruleOf(e term) (rule, *int64, error) {
	if o := e.object(); o != nil && o.Pkg().Path() == pagingPackage && o.Name() == "offsetRule" {
		return rule{number: &value.Integer{Most: paging.MaxOffset}}, new(int64(0)), nil
	}
	r, err := w.textRule(e)
	return r, nil, err
}
