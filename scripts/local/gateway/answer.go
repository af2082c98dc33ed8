package gateway

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"wavegate/shared/platform/problem"
)

// An answer is what a function returns to a Lambda proxy integration.
type answer struct {
	StatusCode        json.Number         `json:"statusCode"`
	Headers           map[string]any      `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Body              string              `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`
}

// remapped are the headers of a function's answer that a REST API does not send under their own
// name ("Amazon API Gateway important notes").
var remapped = []string{
	"Authorization", "Connection", "Content-Length", "Content-Md5", "Date", "Expect", "Host", "Max-Forwards",
	"Proxy-Authenticate", "Server", "Te", "Trailer", "Upgrade", "User-Agent", "Www-Authenticate",
}

// A parsed answer is ready to be sent.
type parsedAnswer struct {
	status int
	header http.Header
	body   []byte
}

// parseAnswer reads a function's answer. An error means that the answer is malformed, for which the
// gateway answers 502. It is a little stricter than AWS, which takes a missing status for 200.
func parseAnswer(raw []byte) (parsedAnswer, error) {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return parsedAnswer{}, fmt.Errorf("the function's answer is no proxy response: %w", err)
	}
	status, err := strconv.Atoi(a.StatusCode.String())
	if err != nil || status < 200 || status > 599 {
		return parsedAnswer{}, fmt.Errorf("the function's answer has the status %q", a.StatusCode)
	}
	p := parsedAnswer{status: status, header: http.Header{}, body: []byte(a.Body)}
	if a.IsBase64Encoded {
		if p.body, err = base64.StdEncoding.DecodeString(a.Body); err != nil {
			return parsedAnswer{}, errors.New("the function's answer says that its body is base64, which it is not")
		}
	}
	// Where both maps name a header, the values of multiValueHeaders are the ones that are sent.
	for name, values := range a.MultiValueHeaders {
		for _, v := range values {
			p.header.Add(outgoing(name), v)
		}
	}
	for name, v := range a.Headers {
		if _, both := p.header[http.CanonicalHeaderKey(outgoing(name))]; !both {
			p.header.Set(outgoing(name), fmt.Sprint(v))
		}
	}
	p.header.Del("Transfer-Encoding")
	// API Gateway gives a type to an answer that has none. Without content there is nothing to give one to;
	// 201 gets it all the same.
	if p.header.Get("Content-Type") == "" && status != http.StatusNoContent && status != http.StatusNotModified {
		p.header.Set("Content-Type", "application/json")
	}
	return p, nil
}

func outgoing(name string) string {
	if slices.Contains(remapped, http.CanonicalHeaderKey(name)) {
		return "X-Amzn-Remapped-" + name
	}
	return name
}

// own builds the answer that the gateway gives by itself. status is used where the response type
// has none of its own.
func own(response string, status int, c requestContext) parsedAnswer {
	g := problem.GatewayResponseOf(response)
	if g.Status != 0 {
		status = g.Status
	}
	e := problem.New(g.Code, "%s", g.Detail).After(g.RetryAfter)
	doc := e.Document(c.Path, c.RequestID)
	body, err := json.Marshal(doc)
	if err != nil { // a document is made of strings and numbers
		panic(err)
	}
	return parsedAnswer{status: status, header: e.Header(), body: body}
}

func (p parsedAnswer) send(w http.ResponseWriter, c requestContext, trace string) {
	h := w.Header()
	for name, values := range p.header {
		h[name] = values
	}
	// As API Gateway spells them, which is not as net/http would.
	h["x-amzn-RequestId"] = []string{c.RequestID}
	h["x-amz-apigw-id"] = []string{c.ExtendedRequestID}
	if trace != "" {
		h["X-Amzn-Trace-Id"] = []string{trace}
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(p.body) // a caller that has left is no concern of the gateway
}
