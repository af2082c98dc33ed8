package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"wavegate/scripts/local/runtime"
)

// AuthorizerTTL is how long an authorizer's answer is used again for the same token.
const AuthorizerTTL = 300 * time.Second

// The types of gateway response that authorization ends in; empty is a caller who may go on.
const (
	allowed      = ""
	unauthorized = "UNAUTHORIZED"
	accessDenied = "ACCESS_DENIED"
	failure      = "AUTHORIZER_FAILURE"
)

// An authorizer calls the authorizer function and remembers its answers, as API Gateway does with a
// REQUEST authorizer whose identity source is the Authorization header: a missing header is refused
// without a call, an Allow and a Deny alike are kept for 300 s, an error is not kept.
type authorizer struct {
	function Invoker
	now      func() time.Time

	mu   sync.Mutex
	kept map[string]keptAnswer
}

type keptAnswer struct {
	authorizerAnswer
	until time.Time
}

// An authorizerAnswer is what the function returns.
type authorizerAnswer struct {
	PrincipalID    string         `json:"principalId"`
	PolicyDocument policy         `json:"policyDocument"`
	Context        map[string]any `json:"context"`
}

type policy struct {
	Statement []statement `json:"Statement"`
}

type statement struct {
	Effect   string    `json:"Effect"`
	Action   oneOrMore `json:"Action"`
	Resource oneOrMore `json:"Resource"`
}

// oneOrMore is a policy's string or list of strings.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(o))
}

// authorize decides about a request. On allowed it returns what the function will find as its
// request context's authorizer; else the type of gateway response, and the cause for the log.
func (a *authorizer) authorize(ctx context.Context, token string, e authorizerEvent) (values map[string]any, response string, cause error) {
	if token == "" {
		return nil, unauthorized, nil
	}
	answer, ok := a.remembered(token)
	latency := time.Duration(0)
	if !ok {
		begin := time.Now()
		var err error
		answer, err = a.call(ctx, e)
		latency = time.Since(begin)
		if err != nil {
			// The one error that stands for an answer. API Gateway compares the message and nothing else.
			if f, ok := errors.AsType[*runtime.FunctionError](err); ok && f.Message == "Unauthorized" {
				return nil, unauthorized, nil
			}
			return nil, failure, err
		}
		a.remember(token, answer)
	}
	if !answer.PolicyDocument.allows(e.MethodArn) {
		return nil, accessDenied, nil
	}
	values, err := handedOn(answer)
	if err != nil {
		return nil, failure, err
	}
	values["integrationLatency"] = latency.Milliseconds()
	return values, allowed, nil
}

func (a *authorizer) call(ctx context.Context, e authorizerEvent) (authorizerAnswer, error) {
	payload, err := json.Marshal(e)
	if err != nil {
		return authorizerAnswer{}, err
	}
	raw, err := a.function.Invoke(ctx, payload)
	if err != nil {
		return authorizerAnswer{}, err
	}
	var answer authorizerAnswer
	if err := json.Unmarshal(raw, &answer); err != nil {
		return authorizerAnswer{}, fmt.Errorf("the authorizer's answer is malformed: %w", err)
	}
	switch {
	case answer.PrincipalID == "":
		return authorizerAnswer{}, errors.New("the authorizer's answer has no principalId")
	case len(answer.PolicyDocument.Statement) == 0:
		return authorizerAnswer{}, errors.New("the authorizer's answer has no policy")
	}
	return answer, nil
}

func (a *authorizer) remembered(token string) (authorizerAnswer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k, ok := a.kept[token]
	if !ok || !a.now().Before(k.until) {
		return authorizerAnswer{}, false
	}
	return k.authorizerAnswer, true
}

// maxKept bounds the memory of a gateway that runs for days.
const maxKept = 10_000

func (a *authorizer) remember(token string, answer authorizerAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil || len(a.kept) >= maxKept {
		a.kept = map[string]keptAnswer{}
	}
	a.kept[token] = keptAnswer{answer, a.now().Add(AuthorizerTTL)}
}

func (a *authorizer) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = nil
}

// handedOn turns the answer's context into strings, as API Gateway does; it takes no lists or
// objects.
func handedOn(answer authorizerAnswer) (map[string]any, error) {
	values := map[string]any{}
	for k, v := range answer.Context {
		switch v := v.(type) {
		case string:
			values[k] = v
		case bool:
			values[k] = strconv.FormatBool(v)
		case float64:
			values[k] = strconv.FormatFloat(v, 'f', -1, 64)
		case nil:
		default:
			return nil, fmt.Errorf("the authorizer's context value %s is a %T, which API Gateway does not take", k, v)
		}
	}
	values["principalId"] = answer.PrincipalID
	return values, nil
}

// allows evaluates the policy for one method: a Deny wins, and what no statement allows is denied.
func (p policy) allows(methodArn string) bool {
	ok := false
	for _, s := range p.Statement {
		if !s.Action.matches("execute-api:Invoke") || !s.Resource.matches(methodArn) {
			continue
		}
		if s.Effect == "Deny" {
			return false
		}
		ok = ok || s.Effect == "Allow"
	}
	return ok
}

// matches compares with wildcards: "*" stands for any characters, slashes too, and "?" for one.
func (o oneOrMore) matches(value string) bool {
	// path.Match has the same wildcards but stops them at slashes and knows classes and escapes.
	plain := strings.NewReplacer("/", "\x00", "[", "\x01", "\\", "\x02")
	for _, pattern := range o {
		if ok, err := path.Match(plain.Replace(pattern), plain.Replace(value)); ok && err == nil {
			return true
		}
	}
	return false
}
