package contract_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
)

// An operation is what the source of an operation says that it reads and answers.
type operation struct {
	inputs  []taken
	body    bool       // it reads a body
	content bool       // which is the content of a method
	policy  *string    // where in it a policy of the guard is; nil: nowhere
	choices [][]string // fields of the body of which one at least is given
	open    []string   // objects that take further fields; empty: the body
	answers []answer
}

// A taken is a value that an operation reads.
type taken struct {
	in        string // path, query, header or body
	name      string
	required  bool
	clearable bool // null takes it away
	rule
	fallback *int64 // what a parameter is that is left out
}

// An answer is a success that an operation answers with.
type answer struct {
	status  int
	body    types.Type // nil: none
	paged   string     // how the list goes on: offset, cursor, or empty for what is no list
	etag    bool
	headers []string
	free    bool // the operation writes it by itself
}

// operations follows each operation's source, from wire through every function that is handed the call,
// its input or its body, or that makes its answer. They are keyed by their ids.
func (s *source) operations() (map[string]operation, error) {
	all := map[string]operation{}
	for f, declared := range s.functions {
		if f.Name() != "wire" || f.Pkg().Name() != "main" || f.Pkg().Path() == sample {
			continue
		}
		op, err := s.follow(declared)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Pkg().Path(), err)
		}
		all[path.Base(f.Pkg().Path())] = op
	}
	return all, nil
}

func (s *source) follow(f function) (operation, error) {
	w := &walk{source: s, followed: map[*ast.FuncLit]bool{}}
	w.function(f, nil)
	return w.found, errors.Join(w.faults...)
}

// A walk follows one operation.
type walk struct {
	*source
	inside   string // the objects of the body that are being read, each with a dot behind it
	followed map[*ast.FuncLit]bool
	found    operation
	depth    int
	faults   []error
}

func (w *walk) fault(format string, args ...any) {
	w.faults = append(w.faults, fmt.Errorf(format, args...))
}

// A scope is what the names of a function stand for: its parameters for what a caller gave, and names of
// functions that are written in it.
type scope struct {
	function
	known    map[types.Object]term
	closures map[types.Object]*ast.FuncLit
}

// resolve is what an expression stands for: itself, or what the caller gave for the parameter that it
// names.
func (s scope) resolve(e ast.Expr) term {
	t := term{e, s.info}
	if given, ok := s.known[t.object()]; ok {
		return given
	}
	return t
}

func (w *walk) function(f function, known map[types.Object]term) {
	w.block(f.Body, scope{f, known, closuresOf(f)})
}

func (w *walk) block(block *ast.BlockStmt, in scope) {
	if w.depth++; w.depth > 20 {
		w.fault("%s calls itself", in.Name.Name)
		return
	}
	defer func() { w.depth-- }()
	named := slices.Collect(maps.Values(in.closures))
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return !slices.Contains(named, n) && !w.followed[n] // which are followed where they are called
		case *ast.CallExpr:
			w.call(n, in)
		case *ast.CompositeLit:
			if isNamed(in.info.TypeOf(n), lambdahttpPackage, "Answer") && len(n.Elts) > 0 {
				w.literal(n, in)
			}
		case *ast.AssignStmt:
			w.assignment(n, in)
		}
		return true
	})
}

// closuresOf are the functions with parameters that a function gives names to.
func closuresOf(f function) map[types.Object]*ast.FuncLit {
	named := map[types.Object]*ast.FuncLit{}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if assign, ok := n.(*ast.AssignStmt); ok && len(assign.Lhs) == 1 && len(assign.Rhs) == 1 {
			name, isName := assign.Lhs[0].(*ast.Ident)
			closure, isClosure := assign.Rhs[0].(*ast.FuncLit)
			if isName && isClosure && len(closure.Type.Params.List) > 0 {
				named[f.info.Defs[name]] = closure
			}
		}
		return true
	})
	return named
}

func (w *walk) call(call *ast.CallExpr, in scope) {
	if closure := in.closures[term{call.Fun, in.info}.object()]; closure != nil {
		inner := maps.Clone(in.known)
		if inner == nil {
			inner = map[types.Object]term{}
		}
		in.hand(inner, in.info, closure.Type, call)
		w.block(closure.Body, scope{in.function, inner, in.closures})
		return
	}
	callee := calleeOf(in.info, call)
	if callee == nil || callee.Pkg() == nil {
		return
	}
	switch at := callee.Pkg().Path(); {
	case at == contentPackage:
		w.found.content = true // has a test of its own
	case at == guardPackage:
		if callee.Name() == "Read" {
			w.found.policy = new(w.inside) // has a test of its own
		}
	case at == inputPackage && (callee.Signature().Recv() == nil || !handsOn(callee.Signature().Recv().Type())):
	case at == inputPackage:
		w.read(callee.Name(), call, in)
	case (at == lambdahttpPackage || at == pagingPackage) && answers(callee):
		w.answer(callee, call, in)
	case answers(callee) || handsOnInput(callee):
		if to, ours := w.functions[callee]; ours {
			inner := map[types.Object]term{}
			in.hand(inner, to.info, to.Type, call)
			w.function(to, inner)
		}
	}
}

// hand puts what a call gives into known, by the parameters that it is given for.
func (s scope) hand(known map[types.Object]term, of *types.Info, to *ast.FuncType, call *ast.CallExpr) {
	i := 0
	for _, list := range to.Params.List {
		for _, name := range list.Names {
			if i < len(call.Args) {
				known[of.Defs[name]] = s.resolve(call.Args[i])
			}
			i++
		}
	}
}

// handsOnInput tells whether a function is given something that inputs are read from.
func handsOnInput(f *types.Func) bool {
	for v := range f.Signature().Params().Variables() {
		if handsOn(v.Type()) || isNamed(v.Type(), lambdahttpPackage, "Call") || isNamed(v.Type(), functionPackage, "Call") {
			return true
		}
	}
	return false
}

// handsOn tells whether inputs are read from a value of the type.
func handsOn(t types.Type) bool {
	return isNamed(t, inputPackage, "Reader") || isNamed(t, inputPackage, "Object")
}

// answers tells whether a function makes an answer.
func answers(f *types.Func) bool {
	for v := range f.Signature().Results().Variables() {
		if isNamed(v.Type(), lambdahttpPackage, "Answer") {
			return true
		}
	}
	return false
}
