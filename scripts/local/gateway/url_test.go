package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/testing/expect"
)

// An urlFunction is a function with a URL.
type urlFunction func(events.LambdaFunctionURLRequest) (string, error)

func (f urlFunction) Invoke(_ context.Context, event []byte) ([]byte, error) {
	var e events.LambdaFunctionURLRequest
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, err
	}
	answer, err := f(e)
	return []byte(answer), err
}

func TestURL_TheFunctionSeesTheRequestAsSent_AndItsAnswerIsSent(t *testing.T) {
	var seen events.LambdaFunctionURLRequest
	var access Access
	u := URL{Name: "get-bell", Access: func(a Access) { access = a },
		Function: urlFunction(func(e events.LambdaFunctionURLRequest) (string, error) {
			seen = e
			return `{"statusCode":200,"headers":{"ETag":"\"1\""},"body":"aGk=","isBase64Encoded":true}`, nil
		})}
	r := httptest.NewRequest(http.MethodGet, "/b/a%2Fb/..//c?x=1", nil)
	r.Header.Add("If-None-Match", `"0"`)
	r.Header.Add("If-None-Match", `"2"`)
	w := httptest.NewRecorder()
	u.ServeHTTP(w, r)
	expect.That(t, seen.RequestContext.RequestID != "", "the function saw no request id")
	got := []string{seen.RawPath, seen.RawQueryString, seen.Headers["if-none-match"], seen.RequestContext.HTTP.Method, seen.Version}
	expect.Equal(t, got, []string{"/b/a%2Fb/..//c", "x=1", `"0","2"`, http.MethodGet, "2.0"}, "the function saw")
	answer := []any{w.Code, w.Body.String(), w.Header().Get("ETag"), access.Operation, access.Status}
	expect.Equal(t, answer, []any{http.StatusOK, "hi", `"1"`, "get-bell", http.StatusOK}, "the answer and its access")
}

func TestURL_TheFunctionFails_Is502_AndTheLogSaysWhy(t *testing.T) {
	for name, f := range map[string]urlFunction{
		"an error":  func(events.LambdaFunctionURLRequest) (string, error) { return "", errors.New("crashed") },
		"no JSON":   func(events.LambdaFunctionURLRequest) (string, error) { return "no", nil },
		"no status": func(events.LambdaFunctionURLRequest) (string, error) { return "{}", nil },
		"not of base64": func(events.LambdaFunctionURLRequest) (string, error) {
			return `{"statusCode":200,"body":"*","isBase64Encoded":true}`, nil
		},
	} {
		var access Access
		w := httptest.NewRecorder()
		URL{Function: f, Access: func(a Access) { access = a }}.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		expect.That(t, w.Code == http.StatusBadGateway && access.Cause != nil,
			"%s: answered %d; %+v", name, w.Code, access)
	}
}

func TestURL_ABodyThatIsTooLarge_IsRefusedWithoutACall(t *testing.T) {
	f := urlFunction(func(events.LambdaFunctionURLRequest) (string, error) {
		t.Error("the function was called")
		return "", nil
	})
	w := httptest.NewRecorder()
	URL{Function: f}.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", maxURLBody+1))))
	expect.Equal(t, w.Code, http.StatusRequestEntityTooLarge, "answered")
}
