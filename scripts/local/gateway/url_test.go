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
	if seen.RawPath != "/b/a%2Fb/..//c" || seen.RawQueryString != "x=1" || seen.Headers["if-none-match"] != `"0","2"` ||
		seen.RequestContext.HTTP.Method != http.MethodGet ||
		seen.RequestContext.RequestID == "" || seen.Version != "2.0" {
		t.Errorf("the function saw %+v", seen)
	}
	if w.Code != http.StatusOK || w.Body.String() != "hi" || w.Header().Get("ETag") != `"1"` ||
		access.Operation != "get-bell" || access.Status != http.StatusOK {
		t.Errorf("answered %d %q %v; %+v", w.Code, w.Body, w.Header(), access)
	}
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
		if w.Code != http.StatusBadGateway || access.Cause == nil {
			t.Errorf("%s: answered %d; %+v", name, w.Code, access)
		}
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
