package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-lambda-go/events"
	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/shared/contract"
	"wavegate/shared/operations"
	"wavegate/shared/testing/expect"
)

// beside is what lies beside the built function.
var beside = fstest.MapFS{renderer: {Data: []byte("/* renderer */")}}

// ask sends the sample event, asking for another page: below a stage, by the stage's own domain.
func ask(t *testing.T, files fstest.MapFS, resource string, headers map[string]string) (events.APIGatewayProxyResponse, string) {
	t.Helper()
	sample := expect.Value(os.ReadFile("../../events/docs.json"))(t)
	var event events.APIGatewayProxyRequest
	expect.OK(t, json.Unmarshal(bytes.ReplaceAll(sample, []byte("/openapi.yaml"), []byte(resource)), &event))
	delete(event.MultiValueHeaders, "Accept-Encoding")
	for name, value := range headers {
		event.MultiValueHeaders[name] = []string{value}
	}
	return send(t, files, event)
}

func send(t *testing.T, files fstest.MapFS, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, string) {
	t.Helper()
	answer := expect.Value(serve(files)(context.Background(), event))(t)
	if !answer.IsBase64Encoded {
		return answer, answer.Body
	}
	body := expect.Value(base64.StdEncoding.DecodeString(answer.Body))(t)
	return answer, string(body)
}

func header(a events.APIGatewayProxyResponse, name string) string {
	return http.Header(a.MultiValueHeaders).Get(name)
}

func TestContract_NamesTheServiceItWasAskedOfFirst(t *testing.T) {
	answer, body := ask(t, beside, "/openapi.yaml", nil)
	expect.Must(t, answer.StatusCode == http.StatusOK && header(answer, "Content-Type") == "application/yaml",
		"got %d %v", answer.StatusCode, answer.MultiValueHeaders)
	served := expect.Value(openapi3.NewLoader().LoadFromData([]byte(body)))(t)
	written := expect.Value(openapi3.NewLoader().LoadFromData(contract.Document))(t)
	expect.Equal(t, served.Servers[0].URL, "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/prod", "the first server is")
	expect.Equal(t, len(served.Servers), len(written.Servers)+1, "the number of servers is")
	// Apart from those two lines it is the document.
	lines := strings.SplitAfter(body, "\n")
	at := slices.Index(lines, "servers:\n") + 1
	expect.Equal(t, strings.Join(slices.Delete(lines, at, at+2), ""), string(contract.Document), "the document without the new server is")
}

func TestContract_UnderADomainOfOnesOwn_NamesThat(t *testing.T) {
	_, body := send(t, beside, events.APIGatewayProxyRequest{
		Resource: "/openapi.yaml", Path: "/releases/openapi.yaml", HTTPMethod: http.MethodGet,
		RequestContext: events.APIGatewayProxyRequestContext{DomainName: "api.example.com", Path: "/releases/openapi.yaml"},
	})
	if !strings.Contains(body, "servers:\n  - url: \"https://api.example.com/releases\"\n") {
		t.Errorf("the servers are %.200s", body[strings.Index(body, "servers:"):])
	}
}

// TestServer_WhateverAHostIsCalled_TheContractStaysReadable: a caller chooses what the local gateway
// takes for the domain's name.
func TestServer_WhateverAHostIsCalled_TheContractStaysReadable(t *testing.T) {
	for _, root := range []string{"https://a\" b: [", "http://x\n- y", "http://{host}", "http://ü"} {
		document, err := openapi3.NewLoader().LoadFromData(document(root))
		expect.That(t, err == nil && document.Servers[0].URL == root, "%q: %v", root, err)
	}
}

func TestPage_WithoutTheRenderer_SaysHowToGetIt(t *testing.T) {
	_, body := ask(t, nil, "/docs", nil)
	expect.That(t, strings.Contains(body, "./scripts/contract docs") && strings.Contains(body, "openapi.yaml"),
		"the page is %s", body)
	if answer, _ := ask(t, nil, "/docs/redoc.js", nil); answer.StatusCode != http.StatusNotFound {
		t.Errorf("a missing renderer is answered with %d", answer.StatusCode)
	}
}

// TestPage_LoadsNothingFromElsewhere: the policy allows no other host, and the page asks for none. What
// it asks for is relative, so that it works below a stage.
func TestPage_LoadsNothingFromElsewhere(t *testing.T) {
	answer, page := ask(t, beside, "/docs", nil)
	policy := header(answer, "Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
		t.Errorf("the policy is %q", policy)
	}
	found := 0
	for _, link := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if link[1] == "data:," {
			continue
		}
		found++
		if !slices.Contains(operations.DocsPaths, "/"+link[1]) {
			t.Errorf("the page refers to %s", link[1])
		} else if answer, _ := ask(t, beside, "/"+link[1], nil); answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", link[1], answer.StatusCode)
		}
	}
	expect.That(t, found >= 2, "the page refers to %d things", found)
	_, script := ask(t, beside, "/docs/redoc.js", nil)
	expect.That(t, script == "/* renderer */", "the renderer is %q", script)
}

// TestPage_WithASlashAtItsEnd_IsSentToThePage: relative links would not work from there.
func TestPage_WithASlashAtItsEnd_IsSentToThePage(t *testing.T) {
	answer, _ := send(t, beside, events.APIGatewayProxyRequest{Resource: "/docs", Path: "/docs/", HTTPMethod: http.MethodGet})
	expect.That(t, answer.StatusCode == http.StatusPermanentRedirect && header(answer, "Location") == "../docs",
		"got %d %v", answer.StatusCode, answer.MultiValueHeaders)
}

func TestAnswers_AreCompressedAndNotSentTwice(t *testing.T) {
	large := fstest.MapFS{renderer: {Data: bytes.Repeat([]byte("render;"), 1000)}}
	for _, path := range operations.DocsPaths {
		plain, want := ask(t, large, path, nil)
		answer, body := ask(t, large, path, map[string]string{"Accept-Encoding": "gzip"})
		if header(answer, "Content-Encoding") != "gzip" || !strings.Contains(header(answer, "Vary"), "Accept-Encoding") {
			t.Fatalf("%s: %v", path, answer.MultiValueHeaders)
		}
		r := expect.Value(gzip.NewReader(strings.NewReader(body)))(t)
		b := expect.Value(io.ReadAll(r))(t)
		body = string(b)
		daily := strings.Contains(header(plain, "Cache-Control"), "max-age")
		expect.That(t, daily == (path == "/docs/redoc.js"), "%s may be kept: %v", path, daily)
		expect.Equal(t, body, want, "the compressed form of %s", path)
		again, body := ask(t, large, path, map[string]string{"If-None-Match": header(plain, "ETag")})
		expect.That(t, again.StatusCode == http.StatusNotModified && body == "",
			"%s: asked for again with its tag: %d, %d bytes", path, again.StatusCode, len(body))
	}
}

func TestEveryAnswer_IsOverHTTPSAndIsWhatItSaysItIs(t *testing.T) {
	for _, path := range []string{"/openapi.yaml", "/docs", "/docs/", "/docs/page.js", "/docs/redoc.js"} {
		for _, files := range []fstest.MapFS{beside, {}} {
			answer, _ := ask(t, files, path, nil)
			if header(answer, "Strict-Transport-Security") == "" || header(answer, "X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %d %v", path, answer.StatusCode, answer.MultiValueHeaders)
			}
		}
	}
}

func TestUnknownPath_IsAProblem(t *testing.T) {
	for _, path := range []string{"/openapi.yaml/", "/docs/redoc.js"} {
		answer, body := send(t, nil, events.APIGatewayProxyRequest{Resource: strings.TrimSuffix(path, "/"), Path: path, HTTPMethod: http.MethodGet})
		if answer.StatusCode != http.StatusNotFound || header(answer, "Content-Type") != "application/problem+json" || !strings.Contains(body, `"code":"NOT_FOUND"`) {
			t.Errorf("%s: %d %v %s", path, answer.StatusCode, answer.MultiValueHeaders, body)
		}
	}
}
