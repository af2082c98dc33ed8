package gateway

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

func TestAnswer_HeadersOfBothMaps_AreSent(t *testing.T) {
	r := answered(t, `{"statusCode":201,
		"headers":{"X-One":"1","X-Both":"single","X-Number":7},
		"multiValueHeaders":{"Set-Cookie":["a=1","b=2"],"X-Both":["many"]},
		"body":"ok"}`)
	expect.Equal(t, r.status, 201, "the status is")
	expect.Equal(t, r.body, "ok", "the body is")
	for name, want := range map[string][]string{
		"X-One": {"1"}, "X-Both": {"many"}, "X-Number": {"7"}, "Set-Cookie": {"a=1", "b=2"},
		"Content-Type": {"application/json"}, // API Gateway's own default
	} {
		expect.Equal(t, r.header.Values(name), want, "%s is", name)
	}
	for _, name := range []string{"X-Amzn-Requestid", "X-Amz-Apigw-Id", "X-Amzn-Trace-Id"} {
		expect.That(t, r.header.Get(name) != "", "there is no %s", name)
	}
	a := r.access
	expect.Equal(t, []any{a.Operation, a.Response, a.Status}, []any{"list-factories", "", 201}, "the access is")
}

func TestAnswer_WithoutContent_HasNoTypeWhereHTTPAllowsNone(t *testing.T) {
	for status, want := range map[string]string{"201": "application/json", "204": "", "304": ""} {
		r := answered(t, `{"statusCode":`+status+`,"body":""}`)
		expect.Equal(t, r.header.Get("Content-Type"), want, "%s comes as", status)
	}
}

func TestAnswer_HeadersThatRESTAPIsRemap(t *testing.T) {
	r := answered(t, `{"statusCode":401,"body":"",
		"multiValueHeaders":{"Www-Authenticate":["Bearer"],"Server":["x"],"Transfer-Encoding":["chunked"]}}`)
	expect.Equal(t, r.header.Get("X-Amzn-Remapped-Www-Authenticate"), "Bearer", "remapped to")
	for _, name := range []string{"Www-Authenticate", "Server"} {
		expect.Equal(t, r.header.Get(name), "", "%s is", name)
	}
}

func TestAnswer_Base64_IsDecoded(t *testing.T) {
	r := answered(t, `{"statusCode":200,"headers":{"Content-Type":"image/png"},"body":"/wD+","isBase64Encoded":true}`)
	expect.Equal(t, r.body, "\xff\x00\xfe", "the body is")
	expect.Equal(t, r.header.Get("Content-Type"), "image/png", "its type is")
}

func TestAnswer_NoContent_HasNoBody(t *testing.T) {
	for _, status := range []string{"204", "304"} {
		r := answered(t, `{"statusCode":`+status+`,"headers":{"ETag":"\"1\""},"body":""}`)
		got := []string{r.body, r.header.Get("Etag"), r.header.Get("Content-Length")}
		expect.Equal(t, got, []string{"", `"1"`, ""}, "the body, the tag and the length of %s", status)
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
			r := answered(t, text)
			r.is(t, "INTEGRATION_FAILURE", 502)
			expect.Equal(t, r.access.Cause == nil, false, "the log has no cause:")
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
	conn := expect.Value(net.Dial("tcp", w.address))(t)
	expect.Value(conn.Write([]byte("GET " + somewhere + " HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\n\r\n")))(t)
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
	r := w.send(t, "PUT /api/factories/f/machines/m", strings.Repeat("x", MaxBody))
	expect.Equal(t, r.status, 200, "at the bound:")
	w.send(t, "PUT /api/factories/f/machines/m", strings.Repeat("x", MaxBody+1)).is(t, "REQUEST_TOO_LARGE", 413)
	expect.Equal(t, w.function.calls(), 1, "calls:")
}
