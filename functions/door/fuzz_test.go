package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
)

// FuzzDoor answers any event of the function's URL, and never with an internal error. TOKEN stands for the box's. A poll with it, and what a
// DDI client says about its box, is never at fault; nothing is published on its channel. Without it, a call costs at most one read and no write, and is refused.
func FuzzDoor(f *testing.F) {
	w := newWorld(f)
	event := func(method, path, query, authorization, body string) string {
		e := events.LambdaFunctionURLRequest{RawPath: path, RawQueryString: query, Headers: map[string]string{"authorization": authorization}, Body: body}
		e.RequestContext.HTTP.Method = method
		text, _ := json.Marshal(e) // strings can always be encoded
		return string(text)
	}
	const ddi = "/api/ddi/acme/controller/v1/box-1"
	for _, seed := range []string{
		`{}`, `{"headers":null,"rawPath":"/api/edges//update/manifest","requestContext":{"http":{"method":"GET"}}}`,
		event(http.MethodGet, poll, "installed=%zz&installed", "Bearer TOKEN", ""),
		event(http.MethodGet, poll+"/", "bell=true", "TargetToken TOKEN", ""),
		event(http.MethodPut, "/api/edges/box-1/update/report", "", "Bearer TOKEN", `{"version":"1","attempt":1e309}`),
		event(http.MethodPut, ddi+"/configData", "", "TargetToken TOKEN", `{"mode":"merge","data":{"installed":"1.0.0"}}`),
		event(http.MethodPost, ddi+"/deploymentBase/1/feedback", "", "TargetToken TOKEN", `{"status":{"details":["a"]}}`),
		event(http.MethodDelete, "/%2e%2e", "", "GatewayToken wavegate-gateway:acme:x", ""),
		strings.Replace(event(http.MethodPut, ddi+"/configData", "", "Bearer TOKEN", "%%"), `"isBase64Encoded":false`, `"isBase64Encoded":true`, 1),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var e events.LambdaFunctionURLRequest
		if json.Unmarshal([]byte(strings.ReplaceAll(text, "TOKEN", w.token)), &e) != nil {
			return // the runtime refuses it before the function sees it
		}
		w.log.Reset()
		w.reads.Store(0)
		w.writes.Store(0)
		a, err := w.door.answer(t.Context(), e)
		if err != nil || a.StatusCode >= http.StatusInternalServerError {
			t.Fatalf("answered %d, %v: %s", a.StatusCode, err, w.log.String())
		}
		if refused := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType}; isOwn(e, w.token) && slices.Contains(refused, a.StatusCode) {
			t.Fatalf("answered a box with %d: %s", a.StatusCode, a.Body)
		}
		if stranger := !strings.Contains(e.Headers["authorization"], w.token); stranger && (w.reads.Load() > 1 || w.writes.Load() > 0 || a.StatusCode < http.StatusBadRequest) {
			t.Fatalf("answered a stranger with %d after %d reads and %d writes", a.StatusCode, w.reads.Load(), w.writes.Load())
		}
	})
}

// isOwn reports whether the event is a poll of the box, or what its DDI client says about it.
func isOwn(e events.LambdaFunctionURLRequest, token string) bool {
	by := e.RequestContext.HTTP.Method + " " + e.RawPath
	return e.Headers["authorization"] == "Bearer "+token && !e.IsBase64Encoded && len(e.Body) < 100<<10 &&
		(by == "GET "+poll || by == "PUT /api/ddi/acme/controller/v1/box-1/configData")
}
