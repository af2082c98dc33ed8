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
	open      bool // asks no authorizer
}

// Kinds of segment, in the order in which API Gateway prefers them.
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

// A table finds the route of a request.
type table []route

// newTable puts the routes in order of preference: at the first segment that differs a static one
// wins over a parameter and a parameter over a greedy one; then a method over ANY.
func newTable(o Options) table {
	var t table
	add := func(op operations.Operation, function Invoker, open bool) {
		t = append(t, route{op, function, strings.Split(strings.Trim(op.Path, "/"), "/"), open})
	}
	for _, op := range o.Operations {
		add(op, o.Functions(op.ID), false)
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

// find returns the route of a path as it was sent, and the path's parameters. Where the resource lacks the
// method, it returns the methods that it has; where there is no resource, none.
//
// Parameters are handed on as they were sent, percent-encoded: events recorded from a REST API show
// test%2Balias in path and pathParameters alike, while query parameters are decoded. Nothing is
// cleaned: "..", "%2F" and "//" reach the function. A slash at the end is not looked at, but stays
// in the event's path.
func (t table) find(method, path string) (to route, parameters map[string]string, methods []string) {
	sent := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
	resource := ""
	for _, r := range t {
		values, ok := match(r.segments, sent)
		// The first resource that matches decides: one that lacks the method hides those behind it.
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

// takes tells whether the route is for the method.
func (r route) takes(method string) bool {
	return r.operation.Method == method || r.operation.Method == operations.Any
}

// shared tells whether there is an operation at the path, whatever its method: those are what a page of
// another origin may ask about.
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
