package contract_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"path"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// An input is one value that an operation reads, as its source says.
type input struct {
	in       string // path, query, header or body
	name     string
	rule     string // the rule's package and name, such as value.Name; empty: none
	required bool
	integer  bool
	least    int64 // of an integer parameter of the query, with most and fallback
	most     int64
	fallback int64
}

// reads finds what each operation reads, by following its source from wire through every function of
// the module that is handed the call, its input or its body, to the methods of request.Input and
// request.Body. It is keyed by the operation's id.
var reads = sync.OnceValues(func() (map[string][]input, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile |
			packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
		Dir: "../..",
	}, "./functions/...", "./shared/...")
	if err != nil {
		return nil, err
	}
	s := &sources{bodies: map[*types.Func]body{}}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, e
		}
		s.add(p)
	}
	all := map[string][]input{}
	for _, p := range loaded {
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "wire" && p.Name == "main" {
					w := &walk{sources: s}
					w.function(body{f, p.TypesInfo}, nil)
					if w.err != nil {
						return nil, fmt.Errorf("%s: %w", p.PkgPath, w.err)
					}
					all[path.Base(p.PkgPath)] = w.found
				}
			}
		}
	}
	return all, nil
})

func readsOf(t *testing.T) map[string][]input {
	t.Helper()
	all, err := reads()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A body is the source of a function.
type body struct {
	decl *ast.FuncDecl
	info *types.Info
}

type sources struct{ bodies map[*types.Func]body }

func (s *sources) add(p *packages.Package) {
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				if object, ok := p.TypesInfo.Defs[f.Name].(*types.Func); ok {
					s.bodies[object] = body{f, p.TypesInfo}
				}
			}
		}
	}
}

const requestPackage = "wavegate/shared/platform/request"

// A walk follows one operation. known holds what a function's parameters stand for: names and rules
// that a caller of it chose.
type walk struct {
	*sources
	found []input
	depth int
	err   error
}

func (w *walk) function(f body, known map[types.Object]ast.Expr) {
	w.statements(f, f.decl.Body, known)
}

func (w *walk) statements(f body, block *ast.BlockStmt, known map[types.Object]ast.Expr) {
	if w.depth++; w.depth > 20 {
		w.err = fmt.Errorf("%s calls itself", f.decl.Name.Name)
	}
	defer func() { w.depth-- }()
	named := closures(f.info, block)
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			for _, c := range named {
				if c == n {
					return false // followed where it is called
				}
			}
		case *ast.CallExpr:
			if closure := named[objectOf(f.info, n.Fun)]; closure != nil && w.err == nil {
				inner := maps.Clone(known)
				if inner == nil {
					inner = map[types.Object]ast.Expr{}
				}
				given(f.info, closure.Type, f.info, n, known, inner)
				w.statements(f, closure.Body, inner)
			} else if w.err == nil {
				w.call(f, n, known)
			}
		}
		return true
	})
}

// closures are the functions with parameters that a block gives names to.
func closures(info *types.Info, block *ast.BlockStmt) map[types.Object]*ast.FuncLit {
	named := map[types.Object]*ast.FuncLit{}
	ast.Inspect(block, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
			return true
		}
		name, isName := assign.Lhs[0].(*ast.Ident)
		closure, isClosure := assign.Rhs[0].(*ast.FuncLit)
		if isName && isClosure && len(closure.Type.Params.List) > 0 {
			named[info.Defs[name]] = closure
		}
		return true
	})
	return named
}

// given puts what a call hands over into inner, by the parameters that it is handed to.
func given(of *types.Info, to *ast.FuncType, from *types.Info, call *ast.CallExpr, known, inner map[types.Object]ast.Expr) {
	i := 0
	for _, list := range to.Params.List {
		for _, name := range list.Names {
			if i < len(call.Args) {
				e := resolve(from, call.Args[i], known)
				inner[of.Defs[name]] = e
				// What the caller's expressions mean is asked of the callee's types.
				if tv, ok := from.Types[e]; ok {
					of.Types[e] = tv
				}
				if use := objectOf(from, e); use != nil {
					of.Uses[identOf(e)] = use
				}
			}
			i++
		}
	}
}

func (w *walk) call(f body, call *ast.CallExpr, known map[types.Object]ast.Expr) {
	callee := calleeOf(f.info, call)
	if callee == nil || callee.Pkg() == nil {
		return
	}
	if callee.Pkg().Path() == requestPackage {
		w.read(f, callee.Name(), call, known)
		return
	}
	to, ours := w.bodies[callee]
	if !ours || !handsOnInput(callee) {
		return
	}
	inner := map[types.Object]ast.Expr{}
	given(to.info, to.decl.Type, f.info, call, known, inner)
	w.function(to, inner)
}

// read records what a method of request.Input or request.Body reads.
func (w *walk) read(f body, method string, call *ast.CallExpr, known map[types.Object]ast.Expr) {
	text := func(i int) string {
		if v := f.info.Types[resolve(f.info, call.Args[i], known)].Value; v != nil && v.Kind() == constant.String {
			return constant.StringVal(v)
		}
		w.err = fmt.Errorf("%s: the name is no constant", method)
		return ""
	}
	number := func(i int) int64 {
		v := f.info.Types[resolve(f.info, call.Args[i], known)].Value
		if v == nil {
			w.err = fmt.Errorf("%s: the bound is no constant", method)
			return 0
		}
		n, _ := constant.Int64Val(v)
		return n
	}
	rule := func(i int) string {
		if object := objectOf(f.info, resolve(f.info, call.Args[i], known)); object != nil {
			return object.Pkg().Name() + "." + object.Name()
		}
		return ""
	}
	add := func(in input) { w.found = append(w.found, in) }
	switch method {
	case "Path":
		add(input{in: "path", name: text(0), rule: rule(1), required: true})
	case "Query":
		add(input{in: "query", name: text(0), rule: rule(1)})
	case "QueryInteger":
		add(input{in: "query", name: text(0), integer: true, least: number(1), most: number(2), fallback: number(3)})
	case "IdempotencyKey":
		add(input{in: "header", name: "Idempotency-Key"})
	case "Preconditions":
		add(input{in: "header", name: "If-Match"})
		add(input{in: "header", name: "If-None-Match"})
	case "Text":
		add(input{in: "body", name: text(0), rule: rule(1), required: true})
	case "OptionalText":
		add(input{in: "body", name: text(0), rule: rule(1)})
	case "Integer":
		add(input{in: "body", name: text(0), integer: true, required: true})
	case "OptionalInteger":
		add(input{in: "body", name: text(0), integer: true})
	case "Body", "Err", "Fault", "Refuse", "Require", "Revision", "Check", "NotModified", "Of", "Apply":
	default:
		w.err = fmt.Errorf("request.%s is new to this test; say here what it reads", method)
	}
}

func calleeOf(info *types.Info, call *ast.CallExpr) *types.Func {
	e := call.Fun
	if index, generic := e.(*ast.IndexExpr); generic {
		e = index.X
	}
	f, _ := objectOf(info, e).(*types.Func)
	if f != nil {
		f = f.Origin()
	}
	return f
}

// handsOnInput tells whether a function is handed something that inputs are read from.
func handsOnInput(f *types.Func) bool {
	signature := f.Signature()
	for v := range signature.Params().Variables() {
		switch v.Type().String() {
		case "*" + requestPackage + ".Input", "*" + requestPackage + ".Body", "*wavegate/shared/platform/lambdahttp.Call":
			return true
		}
	}
	return false
}

// resolve is what an expression stands for: itself, or what the caller gave for the parameter that it
// names.
func resolve(info *types.Info, e ast.Expr, known map[types.Object]ast.Expr) ast.Expr {
	if given, ok := known[objectOf(info, e)]; ok && objectOf(info, e) != nil {
		return given
	}
	return e
}

func identOf(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

// objectOf is what a name, with or without its package, refers to.
func objectOf(info *types.Info, e ast.Expr) types.Object {
	if id := identOf(e); id != nil {
		return info.Uses[id]
	}
	return nil
}
