package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// TestDDIRoot_IsASecondPathOfTheSameFunction, only on request.
func TestDDIRoot_IsASecondPathOfTheSameFunction(t *testing.T) {
	without, with := dev().api(t).routes(), full().api(t).routes()
	second := 0
	for _, op := range table.All {
		root := op.RootPath()
		if root == "" {
			continue
		}
		second++
		expect.That(t, without[op.Method+" "+root] == nil, "%s is served without the setting", root)
		uri := func(path string) any {
			return text(value(with[op.Method+" "+path], "x-amazon-apigateway-integration", "uri"))
		}
		if got := uri(root); got == "" || got != uri(op.Path) {
			t.Errorf("%s calls %v, and %s %v", root, got, op.Path, uri(op.Path))
		}
	}
	expect.That(t, second == 6, "%d operations have a second path", second)
	expect.That(t, with[http.MethodGet+" /{tenant}/controller/v1/{controllerId}"] != nil,
		"there is no poll at the root")
}

// TestForeignTokens_AreJudgedByTokenAndPath, at the paths of DDI alone, and only on request.
func TestForeignTokens_AreJudgedByTokenAndPath(t *testing.T) {
	for name, c := range map[string]struct {
		of      stage
		foreign bool
	}{"dev": {dev(), false}, "full": {full(), true}} {
		api := c.of.api(t)
		schemes, _ := value(map[string]any(api), "components", "securitySchemes").(map[string]any)
		sources := map[string]any{}
		for scheme := range schemes {
			sources[scheme] = value(schemes[scheme], "x-amazon-apigateway-authorizer", "identitySource")
		}
		want := map[string]any{scheme: "method.request.header.Authorization"}
		if c.foreign {
			want[pathScheme] = "method.request.header.Authorization, context.path"
		}
		expect.Equal(t, sources, want, "%s: the identity sources are", name)
		for route, m := range api.routes() {
			security, _ := value(m, "security").([]any)
			if len(security) == 0 {
				continue
			}
			_, byPath := security[0].(map[string]any)[pathScheme]
			expect.Equal(t, byPath, c.foreign && strings.Contains(route, "/{tenant}/controller/v1/{controllerId}"), "%s: %s is judged by path:", name, route)
		}
		for _, function := range []string{operations.Authorizer, operations.Door} {
			if function == operations.Door && !c.foreign {
				continue // dev has no door
			}
			is := value(c.of.function(t, function).Properties, "Environment", "Variables", string(setting.ForeignTokens))
			expect.Equal(t, is == "true", c.foreign, "%s: %s takes foreign tokens:", name, function)
		}
	}
}

// TestPaths_HaveOneVariableAfterTheSamePath: API Gateway accepts no others.
func TestPaths_HaveOneVariableAfterTheSamePath(t *testing.T) {
	for name, s := range map[string]stage{"dev": dev(), "full": full()} {
		variables := map[string][]string{}
		for route := range s.api(t).routes() {
			_, path, _ := strings.Cut(route, " ")
			segments := strings.Split(path, "/")
			for i, segment := range segments {
				parent := strings.Join(segments[:i], "/")
				if strings.HasPrefix(segment, "{") && !slices.Contains(variables[parent], segment) {
					variables[parent] = append(variables[parent], segment)
				}
			}
		}
		for parent, all := range variables {
			expect.That(t, len(all) <= 1, "%s: %s is followed by %v", name, parent, all)
		}
	}
}
