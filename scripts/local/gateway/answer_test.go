package gateway

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAnswer_HeadersOfBothMaps_AreSent(t *testing.T) {
	w := newWorld(t)
	w.function.answer = answers(`{"statusCode":201,
		"headers":{"X-One":"1","X-Both":"single","X-Number":7},
		"multiValueHeaders":{"Set-Cookie":["a=1","b=2"],"X-Both":["many"]},
		"body":"ok"}`)
	r := w.raw(t, "GET "+somewhere)
	if r.status != 201 || r.body != "ok" {
		t.Errorf("%d %q", r.status, r.body)
	}
	for name, want := range map[string][]string{
		"X-One": {"1"}, "X-Both": {"many"}, "X-Number": {"7"}, "Set-Cookie": {"a=1", "b=2"},
		"Content-Type": {"application/json"}, // API Gateway's own default
	} {
		if got := r.header.Values(name); !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"X-Amzn-Requestid", "X-Amz-Apigw-Id", "X-Amzn-Trace-Id"} {
		if r.header.Get(name) == "" {
			t.Errorf("there is no %s", name)
		}
	}
	if r.access.Operation != "list-factories" || r.access.Response != "" || r.access.Status != 201 {
		t.Errorf("%+v", r.access)
	}
}

func TestAnswer_WithoutContent_HasNoTypeWhereHTTPAllowsNone(t *testing.T) {
	for status, want := range map[string]string{"201": "application/json", "204": "", "304": ""} {
		w := newWorld(t)
		w.function.answer = answers(`{"statusCode":` + status + `,"body":""}`)
		if got := w.raw(t, "GET "+somewhere).header.Get("Content-Type"); got != want {
			t.Errorf("%s comes as %q, want %q", status, got, want)
		}
	}
}

func TestAnswer_HeadersThatRESTAPIsRemap(t *testing.T) {
	w := newWorld(t)
	w.function.answer = answers(`{"statusCode":401,"multiValueHeaders":{"Www-Authenticate":["Bearer"],"Server":["x"],"Transfer-Encoding":["chunked"]},"body":""}`)
	r := w.raw(t, "GET "+somewhere)
	if got := r.header.Get("X-Amzn-Remapped-Www-Authenticate"); got != "Bearer" {
		t.Errorf("remapped to %q", got)
	}
	for _, name := range []string{"Www-Authenticate", "Server"} {
		if got := r.header.Get(name); got != "" {
			t.Errorf("%s is %q", name, got)
		}
	}
}

func TestAnswer_Base64_IsDecoded(t *testing.T) {
	w := newWorld(t)
	w.function.answer = answers(`{"statusCode":200,"headers":{"Content-Type":"image/png"},"body":"/wD+","isBase64Encoded":true}`)
	r := w.raw(t, "GET "+somewhere)
	if r.body != "\xff\x00\xfe" || r.header.Get("Content-Type") != "image/png" {
		t.Errorf("%q as %s", r.body, r.header.Get("Content-Type"))
	}
}

func TestAnswer_NoContent_HasNoBody(t *testing.T) {
	for _, status := range []string{"204", "304"} {
		w := newWorld(t)
		w.function.answer = answers(`{"statusCode":` + status + `,"headers":{"ETag":"\"1\""},"body":""}`)
		r := w.raw(t, "GET "+somewhere)
		if r.body != "" || r.header.Get("Etag") != `"1"` || r.header.Get("Content-Length") != "" {
			t.Errorf("%s: %q %v", status, r.body, r.header)
		}
	}
}

func TestAnswer_Malformed_Is502(t *testing.T) {
	for name, text := range map[string]string{
		"empty":              ``,
		"null":               `null`,
		"a string":           `"ok"`,
		"a list":             `[]`,
		"no status":          `{"body":"ok"}`,
		"status zero":        `{"statusCode":0,"body":""}`,
		"informational":      `{"statusCode":100,"body":""}`,
		"status of letters":  `{"statusCode":"ok","body":""}`,
		"fraction":           `{"statusCode":200.5,"body":""}`,
		"body is an object":  `{"statusCode":200,"body":{}}`,
		"headers are a list": `{"statusCode":200,"headers":[],"body":""}`,
		"not base64":         `{"statusCode":200,"body":"***","isBase64Encoded":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.function.answer = answers(text)
			r := w.raw(t, "GET "+somewhere)
			r.is(t, "INTEGRATION_FAILURE", 502)
			if r.access.Cause == nil {
				t.Error("the log has no cause")
			}
		})
	}
}

func TestIntegration_LongerThanTheGatewayWaits_Is504(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.IntegrationTimeout = 30 * time.Millisecond })
	w.function.answer = func(ctx context.Context, _ []byte) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() }
	w.raw(t, "GET "+somewhere).is(t, "INTEGRATION_TIMEOUT", 504)
}

func TestIntegration_CallerLeaves_FunctionContinues(t *testing.T) {
	w := newWorld(t)
	called, left, result := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	w.function.answer = func(ctx context.Context, _ []byte) ([]byte, error) {
		close(called)
		<-left
		time.Sleep(20 * time.Millisecond) // for the server to notice
		result <- ctx.Err()
		return []byte(okAnswer), nil
	}
	conn, err := net.Dial("tcp", w.address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("GET " + somewhere + " HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	<-called
	conn.Close()
	close(left)
	if err := <-result; err != nil {
		t.Errorf("the function's context ended: %v", err)
	}
	<-w.accesses
}

func TestBody_AtTheBound_IsAccepted_AboveIt_IsRefused(t *testing.T) {
	w := newWorld(t)
	if r := w.send(t, "PUT", "/api/factories/f/machines/m", strings.Repeat("x", MaxBody)); r.status != 200 {
		t.Errorf("at the bound: %d", r.status)
	}
	w.send(t, "PUT", "/api/factories/f/machines/m", strings.Repeat("x", MaxBody+1)).is(t, "REQUEST_TOO_LARGE", 413)
	if w.function.calls() != 1 {
		t.Errorf("%d calls", w.function.calls())
	}
}
