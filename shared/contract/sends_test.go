package contract_test

import (
	"go/ast"
	"go/types"
	"net/http"
	"slices"
	"strings"
)

// answer records what a function of package lambdahttp or paging answers with.
func (w *walk) answer(callee *types.Func, call *ast.CallExpr, in scope) {
	add := func(one answer) { w.found.answers = append(w.found.answers, one) }
	switch callee.Pkg().Name() + "." + callee.Name() {
	case "lambdahttp.OK":
		tag, constant := in.resolve(call.Args[1]).text()
		add(answer{status: http.StatusOK, body: w.sent(call.Args[0], in), etag: !constant || tag != ""})
	case "lambdahttp.Empty":
		status, ok := in.resolve(call.Args[0]).small()
		if !ok {
			w.fault("lambdahttp.Empty(%s): the status is no constant", types.ExprString(call.Args[0]))
		}
		add(answer{status: status})
	case "lambdahttp.Stored":
		add(answer{status: http.StatusCreated})
		add(answer{status: http.StatusNoContent})
	case "lambdahttp.Created":
		add(answer{status: http.StatusCreated, headers: []string{"Location"}})
	case "paging.List":
		add(w.page(call, in, "offset"))
	case "paging.Series":
		add(w.page(call, in, "cursor"))
	default:
		w.fault("%s.%s is new to this test; say here what it answers with", callee.Pkg().Name(), callee.Name())
	}
}

// page is the answer with a page of the items that a call of package paging is given.
func (w *walk) page(call *ast.CallExpr, in scope, by string) answer {
	one := answer{status: http.StatusOK, paged: by, headers: []string{"Link"}}
	of, ok := in.info.Instances[identOf(call.Fun)]
	body := w.packages[pagingPackage].Types.Scope().Lookup("body")
	if !ok || body == nil {
		w.fault("%s: the type of a page is not found", types.ExprString(call.Fun))
		return one
	}
	t, err := types.Instantiate(nil, body.Type(), []types.Type{of.TypeArgs.At(0)}, true)
	if err != nil {
		w.fault("%s: %w", types.ExprString(call.Fun), err)
	}
	one.body = t
	return one
}

// literal records an answer that is written out.
func (w *walk) literal(literal *ast.CompositeLit, in scope) {
	var one answer
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			w.fault("an answer does not name its fields")
			return
		}
		switch field := in.resolve(pair.Value); types.ExprString(pair.Key) {
		case "Status":
			if one.status, ok = field.small(); !ok {
				w.fault("the status %s is no constant", field)
			}
		case "Body":
			one.body = w.sent(pair.Value, in)
		case "ETag":
			one.etag = true
		case "NotModified": // which the contract has wherever it has an ETag
		case "Wait": // which is counted, and not sent
		case "Serve":
			one.free = true
		case "Header":
			one.headers = w.headers(field)
		default:
			w.fault("the field %s of an answer is new to this test", types.ExprString(pair.Key))
		}
	}
	w.found.answers = append(w.found.answers, one)
}

func (w *walk) headers(e term) []string {
	literal, info := w.composite(e)
	if literal == nil {
		w.fault("the header %s is no literal", e)
		return nil
	}
	var names []string
	for _, element := range literal.Elts {
		name, ok := term{element.(*ast.KeyValueExpr).Key, info}.text()
		if !ok {
			w.fault("the header %s has a name that is no constant", e)
		}
		names = append(names, http.CanonicalHeaderKey(name))
	}
	return names
}

// assignment finds an answer that is changed after it was made, which nothing here would see.
func (w *walk) assignment(assign *ast.AssignStmt, in scope) {
	for _, to := range assign.Lhs {
		if field, ok := to.(*ast.SelectorExpr); ok && isNamed(in.info.TypeOf(field.X), lambdahttpPackage, "Answer") {
			w.fault("%s is changed after the answer was made", types.ExprString(to))
		}
	}
}

// sent is the type that an answer's body has. For JSON that was made before, it is the type that it was
// made of. JSON that was stored is converted where it is sent, and has no other type.
func (w *walk) sent(e ast.Expr, in scope) types.Type {
	t := in.info.TypeOf(e)
	if _, stored := e.(*ast.CallExpr); stored || !isNamed(t, "encoding/json", "RawMessage") {
		return t
	}
	made := w.marshalled(term{e, in.info}, in.function)
	if len(made) != 1 {
		w.fault("%s: what it was made of is not found", types.ExprString(e))
		return nil
	}
	return made[0]
}

// marshalled are the types that json.Marshal is given in the function that a variable comes from.
func (w *walk) marshalled(variable term, in function) []types.Type {
	var made []types.Type
	ast.Inspect(in.Body, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Rhs) != 1 {
			return true
		}
		call, ok := assign.Rhs[0].(*ast.CallExpr)
		if !ok || !slices.ContainsFunc(assign.Lhs, func(to ast.Expr) bool {
			id, ok := to.(*ast.Ident)
			return ok && variable.object() == in.info.ObjectOf(id)
		}) {
			return true
		}
		if maker, ours := w.functions[calleeOf(in.info, call)]; ours {
			ast.Inspect(maker.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if f := calleeOf(maker.info, call); f != nil && strings.HasPrefix(f.FullName(), "encoding/json.Marshal") {
						made = append(made, maker.info.TypeOf(call.Args[0]))
					}
				}
				return true
			})
		}
		return true
	})
	return made
}
