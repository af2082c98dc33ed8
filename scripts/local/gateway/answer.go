package gateway

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"wavegate/shared/platform/lambdahttp"
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

// remapped are the headers that a REST API renames in a function's answer ("Amazon API Gateway
// important notes").
var remapped = []string{
	"Authorization", "Connection", "Content-Length", "Content-Md5", "Date", "Expect", "Host", "Max-Forwards",
	"Proxy-Authenticate", "Server", "Te", "Trailer", "Upgrade", "User-Agent", "Www-Authenticate",
}

type parsedAnswer struct {
	status int
	header http.Header
	body   []byte
}

// parseAnswer reads a function's answer. An error means that it is malformed, which the gateway
// answers with 502. It is a little stricter than AWS, which treats a missing status as 200.
func parseAnswer(raw []byte) (parsedAnswer, error) {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return parsedAnswer{}, fmt.Errorf("the function's answer is not a proxy response: %w", err)
	}
	status, err := strconv.Atoi(a.StatusCode.String())
	if err != nil || status < 200 || status > 599 {
		return parsedAnswer{}, fmt.Errorf("the function's answer has the status %q", a.StatusCode)
	}
	p := parsedAnswer{status: status, header: http.Header{}, body: []byte(a.Body)}
	if a.IsBase64Encoded {
		if p.body, err = base64.StdEncoding.DecodeString(a.Body); err != nil {
			return parsedAnswer{}, errors.New("the function's answer says that its body is base64, but it is not")
		}
	}
	// If both maps contain a header, multiValueHeaders wins.
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
	// API Gateway adds a type to an answer without one, also to 201. An answer that cannot have
	// content gets none.
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

// own builds the gateway's own answer, with the origins that are allowed to read it. status is used if the answer has
// none.
func own(g problem.GatewayResponse, status int, c requestContext, origins []string) parsedAnswer {
	if g.Status != 0 {
		status = g.Status
	}
	body, err := json.Marshal(g.Document(c.Path, c.RequestID))
	if err != nil { // a document has only strings and numbers
		panic(err)
	}
	h := g.Header()
	maps.Copy(h, lambdahttp.SecurityHeaders())
	lambdahttp.ShareOwn(h, origins)
	return parsedAnswer{status: status, header: h, body: body}
}

func (p parsedAnswer) send(w http.ResponseWriter, c requestContext, trace string) {
	h := w.Header()
	for name, values := range p.header {
		h[name] = values
	}
	// Spelled as API Gateway does; net/http would change it.
	h["x-amzn-RequestId"] = []string{c.RequestID}
	h["x-amz-apigw-id"] = []string{c.ExtendedRequestID}
	if trace != "" {
		h["X-Amzn-Trace-Id"] = []string{trace}
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(p.body) // the caller may have left
}
