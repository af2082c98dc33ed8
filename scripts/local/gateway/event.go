package gateway

import (
	"encoding/base64"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"wavegate/scripts/local/runtime"
	"wavegate/shared/platform/lambdahttp"
)

// An event is what a function receives: the input of a Lambda proxy integration of a REST API
// (payload version 1.0). Recorded events show the fields, and which of them are null.
type event struct {
	Resource          string              `json:"resource"`
	Path              string              `json:"path"`
	HTTPMethod        string              `json:"httpMethod"`
	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Query             map[string]string   `json:"queryStringParameters"`
	MultiValueQuery   map[string][]string `json:"multiValueQueryStringParameters"`
	PathParameters    map[string]string   `json:"pathParameters"`
	StageVariables    map[string]string   `json:"stageVariables"`
	RequestContext    requestContext      `json:"requestContext"`
	Body              *string             `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`
}

// An authorizerEvent is what a REQUEST authorizer receives. It never sees the body.
type authorizerEvent struct {
	Type              string              `json:"type"` // always REQUEST
	MethodArn         string              `json:"methodArn"`
	Resource          string              `json:"resource"`
	Path              string              `json:"path"`
	HTTPMethod        string              `json:"httpMethod"`
	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Query             map[string]string   `json:"queryStringParameters"`
	MultiValueQuery   map[string][]string `json:"multiValueQueryStringParameters"`
	PathParameters    map[string]string   `json:"pathParameters"`
	StageVariables    map[string]string   `json:"stageVariables"`
	RequestContext    requestContext      `json:"requestContext"`
}

type requestContext struct {
	ResourceID        string         `json:"resourceId"`
	Authorizer        map[string]any `json:"authorizer,omitempty"`
	ResourcePath      string         `json:"resourcePath"`
	HTTPMethod        string         `json:"httpMethod"`
	ExtendedRequestID string         `json:"extendedRequestId"`
	RequestTime       string         `json:"requestTime"`
	Path              string         `json:"path"` // as the caller sent it, with the stage's prefix
	AccountID         string         `json:"accountId"`
	Protocol          string         `json:"protocol"`
	Stage             string         `json:"stage"`
	DomainPrefix      string         `json:"domainPrefix"`
	RequestTimeEpoch  int64          `json:"requestTimeEpoch"`
	RequestID         string         `json:"requestId"`
	Identity          identity       `json:"identity"`
	DomainName        string         `json:"domainName"`
	DeploymentID      string         `json:"deploymentId"`
	APIID             string         `json:"apiId"`
}

// The null fields of an identity are for AWS signatures, which no caller of the service uses.
type identity struct {
	CognitoIdentityPoolID         *string `json:"cognitoIdentityPoolId"`
	AccountID                     *string `json:"accountId"`
	CognitoIdentityID             *string `json:"cognitoIdentityId"`
	Caller                        *string `json:"caller"`
	SourceIP                      string  `json:"sourceIp"`
	PrincipalOrgID                *string `json:"principalOrgId"`
	AccessKey                     *string `json:"accessKey"`
	CognitoAuthenticationType     *string `json:"cognitoAuthenticationType"`
	CognitoAuthenticationProvider *string `json:"cognitoAuthenticationProvider"`
	UserArn                       *string `json:"userArn"`
	UserAgent                     *string `json:"userAgent"`
	User                          *string `json:"user"`
}

const apiID = "localgate1"

// newContext describes a request before its route is known, so that the gateway's own answers
// can use it too.
func (g *Gateway) newContext(r *http.Request, path string) requestContext {
	now := g.now().UTC()
	extended := uuid.New()
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = r.RemoteAddr
	}
	c := requestContext{
		HTTPMethod:        r.Method,
		ExtendedRequestID: base64.URLEncoding.EncodeToString(extended[:11]),
		RequestTime:       now.Format("02/Jan/2006:15:04:05 -0700"),
		Path:              path,
		AccountID:         runtime.AccountID,
		Protocol:          r.Proto,
		Stage:             g.stage,
		DomainPrefix:      apiID,
		RequestTimeEpoch:  now.UnixMilli(),
		RequestID:         uuid.NewString(),
		DomainName:        r.Host,
		DeploymentID:      "local1",
		APIID:             apiID,
		Identity:          identity{SourceIP: ip},
	}
	if agent := r.Header.Get("User-Agent"); agent != "" {
		c.Identity.UserAgent = &agent
	}
	return c
}

// newEvent builds the event of a request with a route. path has no stage prefix.
func newEvent(r *http.Request, c requestContext, to route, path string, parameters map[string]string, body []byte) event {
	c.ResourceID = to.operation.ID
	c.ResourcePath = to.operation.Path
	e := event{
		Resource:       to.operation.Path,
		Path:           path,
		HTTPMethod:     r.Method,
		PathParameters: parameters,
		RequestContext: c,
	}
	e.MultiValueHeaders = headers(r, c)
	e.Headers = last(e.MultiValueHeaders)
	e.MultiValueQuery = lambdahttp.Query(r.URL.RawQuery)
	e.Query = last(e.MultiValueQuery)
	if len(body) > 0 {
		// The stack declares every media type as binary, because the copilot needs it. So each
		// body arrives as base64, JSON too.
		text := base64.StdEncoding.EncodeToString(body)
		e.Body, e.IsBase64Encoded = &text, true
	}
	return e
}

// forAuthorizer is the event for the authorizer.
func (e event) forAuthorizer(methodArn string) authorizerEvent {
	return authorizerEvent{
		Type: "REQUEST", MethodArn: methodArn,
		Resource: e.Resource, Path: e.Path, HTTPMethod: e.HTTPMethod,
		Headers: e.Headers, MultiValueHeaders: e.MultiValueHeaders,
		Query: e.Query, MultiValueQuery: e.MultiValueQuery,
		PathParameters: e.PathParameters, RequestContext: e.RequestContext,
	}
}

// hopByHop are headers that the gateway removes. They belong to the connection, or to the
// framing of the body, which is now a string.
var hopByHop = []string{"Connection", "Content-Length", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// headers are the request's headers and those that API Gateway adds. API Gateway passes names on
// unchanged, and HTTP/2 clients send them in lower case. Here all names are in lower case. So if
// a function expects another spelling, every end-to-end test fails.
func headers(r *http.Request, c requestContext) map[string][]string {
	all := map[string][]string{}
	for canonical, values := range r.Header {
		if slices.Contains(hopByHop, canonical) {
			continue
		}
		all[strings.ToLower(canonical)] = values
	}
	all["Host"] = []string{r.Host}
	forwarded := c.Identity.SourceIP
	if before := r.Header.Get("X-Forwarded-For"); before != "" {
		forwarded = before + ", " + forwarded
	}
	replace := func(name, value string) {
		for n := range all {
			if strings.EqualFold(n, name) {
				delete(all, n)
			}
		}
		all[name] = []string{value}
	}
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	replace("X-Forwarded-For", forwarded)
	replace("X-Forwarded-Port", port)
	replace("X-Forwarded-Proto", "http")
	if r.Header.Get("X-Amzn-Trace-Id") == "" {
		replace("X-Amzn-Trace-Id", runtime.NewTrace(time.UnixMilli(c.RequestTimeEpoch)))
	}
	return all
}

// last keeps the last value of each name, as in the single-value maps of an event.
func last(all map[string][]string) map[string]string {
	if all == nil {
		return nil
	}
	single := make(map[string]string, len(all))
	for name, values := range all {
		if len(values) > 0 {
			single[name] = values[len(values)-1]
		}
	}
	return single
}
