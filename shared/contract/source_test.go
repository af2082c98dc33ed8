package contract_test

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// The packages whose types and functions the tests know by name.
const (
	module            = "wavegate/"
	functionPackage   = module + "shared/function"
	guardPackage      = module + "shared/fleet/guard"
	contentPackage    = module + "shared/production/content"
	lambdahttpPackage = module + "shared/platform/lambdahttp"
	pagingPackage     = module + "shared/platform/paging"
	problemPackage    = module + "shared/platform/problem"
	inputPackage      = module + "shared/platform/input"
)

// A source is the parsed and type-checked code of functions and shared.
type source struct {
	packages  map[string]*packages.Package
	functions map[*types.Func]function
	variables map[types.Object]term  // what a variable of a package begins as
	reached   map[*ast.CallExpr]bool // the calls of package input that an operation was followed to
}

// A function is the declaration of a function or method, with the types of its package.
type function struct {
	*ast.FuncDecl
	info *types.Info
}

// A term is an expression, with the types of the package that it stands in.
type term struct {
	ast.Expr
	info *types.Info
}

var loadSource = sync.OnceValues(func() (*source, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
		Dir:  "../..",
	}, "./functions/...", "./shared/...", sample)
	if err != nil {
		return nil, err
	}
	s := &source{packages: map[string]*packages.Package{}, functions: map[*types.Func]function{}, variables: map[types.Object]term{}, reached: map[*ast.CallExpr]bool{}}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, e
		}
		s.packages[p.PkgPath] = p
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				s.add(d, p.TypesInfo)
			}
		}
	}
	return s, nil
})

func (s *source) add(declaration ast.Decl, info *types.Info) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if f, ok := info.Defs[d.Name].(*types.Func); ok && d.Body != nil {
			s.functions[f] = function{d, info}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || len(v.Values) != len(v.Names) {
				continue
			}
			for i, name := range v.Names {
				s.variables[info.Defs[name]] = term{v.Values[i], info}
			}
		}
	}
}

// code is the source, or ends the test.
func code(t *testing.T) *source {
	t.Helper()
	s, err := loadSource()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// eachNode walks every node of the code that the service is made of.
func (s *source) eachNode(see func(ast.Node)) {
	for path, p := range s.packages {
		if !strings.HasPrefix(path, module+"shared/contract") {
			for _, file := range p.Syntax {
				ast.Inspect(file, func(n ast.Node) bool { see(n); return true })
			}
		}
	}
}

// object is what a name, with or without its package, refers to.
func (e term) object() types.Object {
	if id := identOf(e.Expr); id != nil {
		return e.info.Uses[id]
	}
	return nil
}

// constant is the value of a constant expression, or nil.
func (e term) constant() constant.Value { return e.info.Types[e.Expr].Value }

// text is the value of a constant string.
func (e term) text() (string, bool) {
	if v := e.constant(); v != nil && v.Kind() == constant.String {
		return constant.StringVal(v), true
	}
	return "", false
}

// integer is the value of a constant whole number.
func (e term) integer() (int64, bool) {
	if v := e.constant(); v != nil && v.Kind() == constant.Int {
		return constant.Int64Val(v)
	}
	return 0, false
}

// composite is the composite literal that a term, a pointer to it or a variable of a package stands for.
func (s *source) composite(e term) (*ast.CompositeLit, *types.Info) {
	switch x := ast.Unparen(e.Expr).(type) {
	case *ast.CompositeLit:
		return x, e.info
	case *ast.UnaryExpr:
		return s.composite(term{x.X, e.info})
	}
	if begins, ok := s.variables[e.object()]; ok {
		return s.composite(begins)
	}
	return nil, nil
}

// calleeOf is the function or method that is called, or nil.
func calleeOf(info *types.Info, call *ast.CallExpr) *types.Func {
	if id := identOf(call.Fun); id != nil {
		if f, ok := info.Uses[id].(*types.Func); ok {
			return f.Origin()
		}
	}
	return nil
}

func identOf(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr: // of a generic function
		return identOf(e.X)
	}
	return nil
}

// isNamed tells whether a type, or what it points to, is one of a package.
func isNamed(t types.Type, path, name string) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path
}

// String is the expression as the source has it.
func (e term) String() string { return types.ExprString(e.Expr) }

func (e term) small() (int, bool) {
	n, ok := e.integer()
	return int(n), ok
}

func (e term) boolean() (value, ok bool) {
	if v := e.constant(); v != nil && v.Kind() == constant.Bool {
		return constant.BoolVal(v), true
	}
	return false, false
}
