package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"wavegate/shared/operations"
)

// A route is one method of one resource.
type route struct {
	operation operations.Operation
	function  Invoker
	segments  []string
	open      bool // without an authorizer
}

// Kinds of segment, in API Gateway's order of preference.
const (
	static = iota
	parameter
	greedy
)

func kind(segment string) int {
	switch {
	case strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "+}"):
		return greedy
	case strings.HasPrefix(segment, "{"):
		return parameter
	}
	return static
}

func name(segment string) string { return strings.TrimRight(strings.Trim(segment, "{}"), "+") }

type table []route

// newTable sorts the routes by preference. At the first segment that differs, a static one comes
// before a parameter, and a parameter before a greedy one. For the same path, a method comes
// before ANY.
func newTable(o Options) table {
	var t table
	add := func(op operations.Operation, function Invoker, open bool) {
		t = append(t, route{op, function, strings.Split(strings.Trim(op.Path, "/"), "/"), open})
	}
	for _, op := range o.Operations {
		add(op, o.Functions(op.ID), false)
		if root := op.RootPath(); root != "" && o.DDIRoot {
			op.Path = root
			add(op, o.Functions(op.ID), false)
		}
	}
	if o.Docs != nil {
		for _, path := range operations.DocsPaths {
			add(operations.Operation{ID: operations.Docs, Method: http.MethodGet, Path: path}, o.Docs, true)
		}
	}
	if o.Console != nil {
		for _, path := range operations.ConsolePaths {
			add(operations.Operation{ID: operations.Console, Method: http.MethodGet, Path: path}, o.Console, true)
		}
	}
	if o.Login != nil {
		add(operations.Operation{ID: "login", Method: http.MethodGet, Path: operations.LoginPath}, o.Login, true)
	}
	slices.SortStableFunc(t, func(a, b route) int {
		byKind := slices.CompareFunc(a.segments, b.segments, func(x, y string) int { return cmp.Compare(kind(x), kind(y)) })
		if byKind != 0 {
			return byKind
		}
		return cmp.Compare(anyLast(a), anyLast(b))
	})
	return t
}

func anyLast(r route) int {
	if r.operation.Method == operations.Any {
		return 1
	}
	return 0
}

// find returns the route of a path, and its path parameters. If the resource does not have the
// method, find returns the methods that it has. If there is no resource, it returns none.
//
// Parameters stay percent-encoded, as they were sent: recorded events of a REST API have
// test%2Balias in path and pathParameters, while query parameters are decoded. The path is not
// cleaned: "..", "%2F" and "//" reach the function. A slash at the end is ignored for the route,
// but stays in the event's path.
func (t table) find(method, path string) (to route, parameters map[string]string, methods []string) {
	sent := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
	resource := ""
	for _, r := range t {
		values, ok := match(r.segments, sent)
		// The first matching resource decides. If it does not have the method, later ones are
		// not tried.
		if !ok || resource != "" && resource != r.operation.Path {
			continue
		}
		resource = r.operation.Path
		if methods = append(methods, r.operation.Method); r.takes(method) {
			return r, values, methods
		}
	}
	return route{}, nil, methods
}

func (r route) takes(method string) bool {
	return r.operation.Method == method || r.operation.Method == operations.Any
}

// shared reports whether an operation has the path, with any method. Preflight requests are
// allowed for these.
func (t table) shared(path string) bool {
	sent := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
	for _, r := range t {
		if _, ok := match(r.segments, sent); ok && !r.open {
			return true
		}
	}
	return false
}

func match(want, sent []string) (map[string]string, bool) {
	var parameters map[string]string
	set := func(segment, value string) {
		if parameters == nil {
			parameters = map[string]string{}
		}
		parameters[name(segment)] = value
	}
	for i, w := range want {
		if i >= len(sent) {
			return nil, false
		}
		switch kind(w) {
		case greedy:
			rest := strings.Join(sent[i:], "/")
			if rest == "" {
				return nil, false
			}
			set(w, rest)
			return parameters, true
		case parameter:
			if sent[i] == "" {
				return nil, false
			}
			set(w, sent[i])
		default:
			if w != sent[i] {
				return nil, false
			}
		}
	}
	return parameters, len(want) == len(sent)
}
