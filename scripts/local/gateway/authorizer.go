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
	"wavegate/shared/access/auth"
)

// The types of gateway response that authorization can end in. Empty means that the caller may
// continue.
const (
	allowed      = ""
	unauthorized = "UNAUTHORIZED"
	accessDenied = "ACCESS_DENIED"
	failure      = "AUTHORIZER_FAILURE"
)

// An authorizer calls the authorizer function and caches its answers, like API Gateway with a
// REQUEST authorizer whose identity source is the Authorization header. A missing header is
// refused without a call. Allow and Deny are cached for auth.GatewayCache, errors are not.
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

type authorizerAnswer struct {
	PrincipalID    string         `json:"principalId"`
	PolicyDocument policy         `json:"policyDocument"`
	Context        map[string]any `json:"context"`
}

type policy struct {
	Statement []statement `json:"Statement"`
}

type statement struct {
	Effect   string       `json:"Effect"`
	Action   stringOrList `json:"Action"`
	Resource stringOrList `json:"Resource"`
}

// stringOrList is a policy's string or list of strings.
type stringOrList []string

func (o *stringOrList) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*o = stringOrList{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(o))
}

// authorize decides about a request. If it is allowed, authorize returns the authorizer values
// for the function's request context. Otherwise it returns the type of gateway response, and the
// cause for the log.
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
			// This is the one error that means an answer. API Gateway compares only the message.
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
	values, err := contextStrings(answer)
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

// maxKept bounds the cache of a gateway that runs for days.
const maxKept = 10_000

func (a *authorizer) remember(token string, answer authorizerAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil || len(a.kept) >= maxKept {
		a.kept = map[string]keptAnswer{}
	}
	a.kept[token] = keptAnswer{answer, a.now().Add(auth.GatewayCache)}
}

func (a *authorizer) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = nil
}

// contextStrings turns the answer's context into strings, as API Gateway does. Lists and objects are
// refused.
func contextStrings(answer authorizerAnswer) (map[string]any, error) {
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
			return nil, fmt.Errorf("the authorizer's context value %s is a %T, which API Gateway does not accept", k, v)
		}
	}
	values["principalId"] = answer.PrincipalID
	return values, nil
}

// allows evaluates the policy for one method. A Deny wins, and a method without a matching
// statement is denied.
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

// matches compares with wildcards: "*" matches any characters, including slashes, and "?" one
// character.
func (o stringOrList) matches(value string) bool {
	// path.Match has the same wildcards, but they stop at slashes, and it also has classes and
	// escapes.
	plain := strings.NewReplacer("/", "\x00", "[", "\x01", "\\", "\x02")
	for _, pattern := range o {
		if ok, err := path.Match(plain.Replace(pattern), plain.Replace(value)); ok && err == nil {
			return true
		}
	}
	return false
}
