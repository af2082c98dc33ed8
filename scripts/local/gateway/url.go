package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"

	"wavegate/scripts/local/runtime"
)

// A URL simulates the URL of a function, to which anyone may send requests. It passes the function the events of payload
// version 2.0 ("Invoking Lambda function URLs").
type URL struct {
	Function Invoker
	// Name is the function's, for Access.
	Name string
	// Access is called after each answer.
	Access func(Access)
}

// maxURLBody is the largest body that the URL of a function accepts, in bytes.
const maxURLBody = 6 << 20

func (u URL) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	id := uuid.NewString()
	status, err := u.answer(w, r, id)
	if u.Access != nil {
		u.Access(Access{
			Method: r.Method, Path: sentPath(r), RequestID: id, Operation: u.Name, Status: status, Duration: time.Since(begin), Cause: err,
		})
	}
}

// answer returns the status. The error is why the function did not answer.
func (u URL) answer(w http.ResponseWriter, r *http.Request, id string) (int, error) {
	w.Header().Set("x-amzn-RequestId", id)
	refuse := func(status int, err error) (int, error) {
		http.Error(w, http.StatusText(status), status)
		return status, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxURLBody))
	if err != nil {
		return refuse(http.StatusRequestEntityTooLarge, err)
	}
	payload, err := json.Marshal(urlEvent(r, id, body))
	if err != nil {
		return refuse(http.StatusInternalServerError, err)
	}
	raw, err := u.Function.Invoke(context.WithoutCancel(r.Context()), payload)
	if errors.Is(err, runtime.ErrEventTooLarge) {
		return refuse(http.StatusRequestEntityTooLarge, err)
	}
	var a events.LambdaFunctionURLResponse
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err == nil && (a.StatusCode < 200 || a.StatusCode > 599) {
		err = errors.New("the function's answer has no status")
	}
	text := []byte(a.Body)
	if err == nil && a.IsBase64Encoded {
		text, err = base64.StdEncoding.DecodeString(a.Body)
	}
	if err != nil {
		return refuse(http.StatusBadGateway, err)
	}
	for name, value := range a.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.StatusCode)
	_, _ = w.Write(text) // the caller may have left
	return a.StatusCode, nil
}

func urlEvent(r *http.Request, id string, body []byte) events.LambdaFunctionURLRequest {
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = r.RemoteAddr
	}
	e := events.LambdaFunctionURLRequest{
		Version: "2.0", RawPath: sentPath(r), RawQueryString: r.URL.RawQuery,
		Headers: map[string]string{"host": r.Host, "x-forwarded-for": ip, "x-forwarded-proto": "http"},
		RequestContext: events.LambdaFunctionURLRequestContext{
			AccountID: "anonymous", RequestID: id, DomainName: r.Host, TimeEpoch: time.Now().UnixMilli(),
			HTTP: events.LambdaFunctionURLRequestContextHTTPDescription{
				Method: r.Method, Path: sentPath(r), Protocol: r.Proto, SourceIP: ip, UserAgent: r.UserAgent(),
			},
		},
	}
	for name, values := range r.Header {
		e.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	if len(body) > 0 {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return e
}
