package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const arn = "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/PUT/api/ota/release-channels/gateway-x/stable"

// A harness is an authorizer with its log and metrics.
type harness struct {
	*authorizer
	log, metrics bytes.Buffer
}

func newHarness(t testing.TB, setting string, now func() time.Time) *harness {
	t.Helper()
	issuers := expect.Value(token.ParseIssuers(setting))(t)
	h := &harness{}
	h.authorizer = newAuthorizer(issuers, gaveNone, now, slog.New(slog.NewJSONHandler(&h.log, nil)), &h.metrics)
	return h
}

// gaveNone knows no token.
func gaveNone(context.Context, request, boxtoken.Token) (auth.Principal, bool, error) {
	return auth.Principal{}, false, nil
}

func atNoon() time.Time { return noon }

// outcome is the class in the log line of the one call.
func (h *harness) outcome(t *testing.T) token.RefusalReason {
	t.Helper()
	var line struct {
		Outcome token.RefusalReason `json:"outcome"`
	}
	expect.Must(t, json.Unmarshal(h.log.Bytes(), &line) == nil, "got %q, want one log line", h.log.String())
	return line.Outcome
}

// reasons lists the reasons in the metrics of refusals.
func (h *harness) reasons(t *testing.T) []string {
	t.Helper()
	var reasons []string
	for raw := range bytes.Lines(h.metrics.Bytes()) {
		var line struct {
			Operation, Reason string
			TokenRefusals     int
		}
		expect.Must(t, json.Unmarshal(raw, &line) == nil && line.Operation == "authorizer", "metric %q", raw)
		if line.TokenRefusals == 1 {
			reasons = append(reasons, line.Reason)
		}
	}
	return reasons
}

func withToken(raw string) request {
	return request{MethodArn: arn, MultiValueHeaders: map[string][]string{"Authorization": {"Bearer " + raw}}}
}

// denial is the only answer that denies, byte for byte.
const denial = `{"principalId":"nobody","policyDocument":{"Version":"2012-10-17","Statement":[` +
	`{"Action":["execute-api:Invoke"],"Effect":"Deny","Resource":["*"]}]}}`

func mustDeny(t *testing.T, answer response, err error) {
	t.Helper()
	got := tokentest.JSON(answer)
	expect.That(t, err == nil && got == denial, "answer %s, error %v, want Deny", got, err)
}

func mustBeUnauthorized(t *testing.T, answer response, err error) {
	t.Helper()
	if err == nil || err.Error() != "Unauthorized" || !reflect.DeepEqual(answer, response{}) {
		t.Errorf("answer %s, error %v, want the error Unauthorized alone", tokentest.JSON(answer), err)
	}
}

// mustBeUnknown: API Gateway answers 503.
func mustBeUnknown(t *testing.T, answer response, err error) {
	t.Helper()
	if err == nil || err.Error() != "Unavailable" || !reflect.DeepEqual(answer, response{}) {
		t.Errorf("answer %s, error %v, want the error Unavailable alone", tokentest.JSON(answer), err)
	}
}

func TestAuthorize_GoodToken_AllowsTheWholeAPI(t *testing.T) {
	w := tokentest.NewWorld(noon)
	h := newHarness(t, w.Setting, atNoon)
	answer := expect.Value(h.authorize(t.Context(), withToken(w.Person().Sign())))(t)
	want := `{"principalId":"https://people.example ada","policyDocument":{"Version":"2012-10-17","Statement":[` +
		`{"Action":["execute-api:Invoke"],"Effect":"Allow",` +
		`"Resource":["arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/*"]}]},` +
		`"context":{"exp":"1772370000","issuer":"https://people.example","organizationId":"acme","retryAfterSeconds":"2",` +
		`"roles":"production_engineer","userId":"ada"}}`
	expect.Equal(t, tokentest.JSON(answer), want, "the answer is")
	expect.That(t, h.outcome(t) == accepted && h.metrics.Len() == 0,
		"logged %s, counted %s", h.log.String(), h.metrics.String())
}

func TestAuthorize_ResourceOfTheAnswer_IsTheStage(t *testing.T) {
	w := tokentest.NewWorld(noon)
	for methodARN, want := range map[string]string{
		"arn:aws:execute-api:eu-west-1:1:api/prod/GET/":                         "arn:aws:execute-api:eu-west-1:1:api/prod/*",
		"arn:aws:execute-api:eu-west-1:1:api/test-invoke-stage/DELETE/api/x/y":  "arn:aws:execute-api:eu-west-1:1:api/test-invoke-stage/*",
		"arn:aws-us-gov:execute-api:us-gov-west-1:1:api/v1/PATCH/api/a%2Fb/*/?": "arn:aws-us-gov:execute-api:us-gov-west-1:1:api/v1/*",
	} {
		event := withToken(w.Person().Sign())
		event.MethodArn = methodARN
		answer := expect.Value(newHarness(t, w.Setting, atNoon).authorize(t.Context(), event))(t)
		expect.Equal(t, answer.PolicyDocument.Statement[0].Resource, []string{want}, "the resource for %s", methodARN)
	}
}

func TestAuthorize_EventNotFromARestAPI_IsDeniedAndLoggedAsAnError(t *testing.T) {
	w := tokentest.NewWorld(noon)
	for _, methodARN := range []string{
		"", "*", "api/prod/GET", "arn:aws:execute-api:eu-west-1:1:api", "arn:aws:execute-api:eu-west-1:1:api//GET/", "arn:aws:lambda/x/y",
	} {
		h := newHarness(t, w.Setting, atNoon)
		event := withToken(w.Person().Sign())
		event.MethodArn = methodARN
		answer, err := h.authorize(t.Context(), event)
		mustDeny(t, answer, err)
		expect.That(t, h.outcome(t) == badEvent && strings.Contains(h.log.String(), `"level":"ERROR"`),
			"%q: logged %s", methodARN, h.log.String())
	}
}

// TestAuthorize_Principal_ArrivesAsItWasFound: the gateway counts callers by their user, which contains the issuer.
func TestAuthorize_Principal_ArrivesAsItWasFound(t *testing.T) {
	w := tokentest.NewWorld(noon)
	for name, draft := range map[string]tokentest.Draft{
		"person":                      w.Person().With("roles", "platform_owner organization_admin"),
		"box":                         w.Box(),
		"person with a box's subject": w.Person().With("sub", "box-7"),
		"no organization":             w.Person().With("org", nil).With("roles", nil),
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, w.Setting, atNoon)
			answer := expect.Value(h.authorize(t.Context(), withToken(draft.Sign())))(t)
			want := expect.Value(h.verifier.Verify(t.Context(), draft.Sign()))(t)
			got := expect.Value(auth.FromContext(answer.Context))(t)
			expect.Equal(t, got.User()+" of "+got.OrganizationID, want.User()+" of "+want.OrganizationID, "the caller is")
			expect.Equal(t, got.Roles, want.Roles, "the roles")
			expect.Equal(t, got.Expires.UTC(), want.Expires.UTC(), "the end")
			expect.Equal(t, answer.PrincipalID, want.User(), "the gateway's name for it is")
		})
	}
}

// Each attack has a subtest for each scheme. The answer is one of the two refusals, which are the same for all
// attacks, so they do not show the cause. The log and the metric have the class, and nothing
// contains the token.
func TestAuthorize_AnyAttack_HasOneOfTwoAnswers(t *testing.T) {
	w := tokentest.NewWorld(noon)
	for _, scheme := range []string{"Bearer ", "TargetToken "} {
		for _, attack := range w.Attacks() {
			t.Run(scheme+attack.Name, func(t *testing.T) {
				h := newHarness(t, w.Setting, atNoon)
				answer, err := h.authorize(t.Context(), calling(scheme+attack.Token))
				if attack.MayBecomeGood {
					mustBeUnauthorized(t, answer, err)
				} else {
					mustDeny(t, answer, err)
				}
				expect.Equal(t, h.outcome(t), attack.Class, "logged as")
				expect.Equal(t, h.reasons(t), []string{string(attack.Class)}, "counted as")
				for part := range strings.SplitSeq(attack.Token, ".") {
					if len(part) > 8 && strings.Contains(h.log.String()+h.metrics.String(), part) {
						t.Errorf("a part of the token was written: %s", part)
					}
				}
			})
		}
	}
}

// TestAuthorize_AFloodOfBadTokens_IsCountedAndSampled: after 100 lines, a container writes one of 100. An accepted token is written.
func TestAuthorize_AFloodOfBadTokens_IsCountedAndSampled(t *testing.T) {
	w := tokentest.NewWorld(noon)
	h := newHarness(t, w.Setting, atNoon)
	for range 1000 {
		_, _ = h.authorize(t.Context(), withToken("no token"))
	}
	expect.Equal(t, strings.Count(h.log.String(), "\n"), 109, "lines")
	expect.Equal(t, len(h.reasons(t)), 1000, "counted")
	h.log.Reset()
	expect.Value(h.authorize(t.Context(), withToken(w.Person().Sign())))(t)
	expect.Equal(t, h.outcome(t), accepted, "logged as")
}

func TestAuthorize_AuthorizationHeader(t *testing.T) {
	w := tokentest.NewWorld(noon)
	good := w.Person().Sign()
	type values = map[string][]string
	for name, c := range map[string]struct {
		headers values
		want    token.RefusalReason
	}{
		"as sent":                          {values{"Authorization": {"Bearer " + good}}, accepted},
		"in lower case":                    {values{"authorization": {"bearer " + good}}, accepted},
		"in upper case":                    {values{"AUTHORIZATION": {"BEARER " + good}}, accepted},
		"with spaces around":               {values{"Authorization": {" \tBearer   " + good + " "}}, accepted},
		"none":                             {values{"Accept": {"*/*"}}, noToken},
		"no headers at all":                {values{}, noToken},
		"empty":                            {values{"Authorization": {""}}, noToken},
		"no values":                        {values{"Authorization": {}}, noToken},
		"scheme only":                      {values{"Authorization": {"Bearer "}}, noToken},
		"token only":                       {values{"Authorization": {good}}, noToken},
		"scheme and token without a space": {values{"Authorization": {"Bearer" + good}}, noToken},
		"another scheme":                   {values{"Authorization": {"Basic " + good}}, noToken},
		"two values":                       {values{"Authorization": {"Bearer " + good, "Bearer " + good}}, token.SeveralTokens},
		"two names":                        {values{"Authorization": {"Bearer " + good}, "authorization": {"Bearer " + good}}, token.SeveralTokens},
		"two tokens in one value":          {values{"Authorization": {"Bearer " + good + ", Bearer " + good}}, token.Malformed},
		"token in a header of its name":    {values{"X-Authorization": {"Bearer " + good}}, noToken},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, w.Setting, atNoon)
			answer, err := h.authorize(t.Context(), request{MethodArn: arn, MultiValueHeaders: c.headers})
			if c.want == accepted {
				expect.OK(t, err)
				expect.Equal(t, answer.PolicyDocument.Statement[0].Effect, "Allow", "the effect is")
			} else if name == "two values" || name == "two names" {
				// A Deny would be cached by the gateway for the good token.
				mustBeUnauthorized(t, answer, err)
			} else {
				mustDeny(t, answer, err)
			}
			expect.Equal(t, h.outcome(t), c.want, "outcome")
		})
	}
}

// Some tools send single-valued headers only.
func TestAuthorize_OnlySingleValuedHeaders_AreRead(t *testing.T) {
	w := tokentest.NewWorld(noon)
	event := request{MethodArn: arn, Headers: map[string]string{"authorization": "Bearer " + w.Person().Sign()}}
	h := newHarness(t, w.Setting, atNoon)
	if _, err := h.authorize(t.Context(), event); err != nil || h.outcome(t) != accepted {
		t.Errorf("error %v, logged %s", err, h.log.String())
	}
	event.MultiValueHeaders = map[string][]string{"Accept": {"*/*"}}
	answer, err := newHarness(t, w.Setting, atNoon).authorize(t.Context(), event)
	mustDeny(t, answer, err)
}

func TestAuthorize_KeysUnavailable_IsUnavailableAndLoggedAsAnError(t *testing.T) {
	setting := `[{"issuer":"https://people.example","audience":["wavegate"],"jwksUrl":"http://127.0.0.1:1/keys","grants":["production_engineer"]}]`
	h := newHarness(t, setting, atNoon)
	answer, err := h.authorize(t.Context(), withToken(tokentest.NewWorld(noon).Person().Sign()))
	mustBeUnknown(t, answer, err)
	if !strings.Contains(h.metrics.String(), `"KeyFetchFailures":1`) || !strings.Contains(h.log.String(), `"level":"ERROR"`) {
		t.Errorf("logged %s, counted %s", h.log.String(), h.metrics.String())
	}
	expect.Equal(t, h.reasons(t), []string{string(token.KeysUnavailable)}, "counted as")
}

func TestAuthorize_Panic_IsUnavailableAndAnError(t *testing.T) {
	calls := 0
	h := newHarness(t, tokentest.NewWorld(noon).Setting, func() time.Time {
		if calls++; calls == 2 {
			panic("a secret of the service")
		}
		return noon
	})
	answer, err := h.authorize(t.Context(), withToken(tokentest.NewWorld(noon).Person().Sign()))
	mustBeUnknown(t, answer, err)
	expect.That(t, h.outcome(t) == fault && strings.Contains(h.log.String(), "a secret of the service"),
		"logged %s", h.log.String())
}

// The sample events are what API Gateway sends. Each has an expected answer here, and each
// answer has its file.
func TestAuthorize_SampleEvents(t *testing.T) {
	issuers := expect.Value(devissuer.Load(t.TempDir()))(t)
	owner := devissuer.Claims{User: "ada", Organization: "acme", Roles: []string{"platform_owner"}}
	box := devissuer.Claims{User: "box-7", Organization: "acme", Roles: []string{"edge"}}
	cases := map[string]struct {
		token devissuer.Claims
		want  token.RefusalReason
	}{
		"authorizer-allow.json":                    {owner, accepted},
		"authorizer-allow-edge.json":               {box, accepted},
		"authorizer-deny-unsigned.json":            {owner, token.BadAlgorithm},
		"authorizer-deny-no-token.json":            {owner, noToken},
		"authorizer-unauthorized-two-tokens.json":  {owner, token.SeveralTokens},
		"authorizer-unauthorized-unknown-key.json": {owner, token.UnknownKey},
	}
	files, err := filepath.Glob("../../events/authorizer-*.json")
	expect.Must(t, err == nil && len(files) == len(cases),
		"%d files for %d cases, error %v", len(files), len(cases), err)
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			c, ok := cases[name]
			expect.Must(t, ok, "no expected answer for this file")
			text := expect.Value(os.ReadFile(file))(t)
			good := expect.Value(issuers.Token(c.token))(t)
			var event request
			expect.OK(t, json.Unmarshal(bytes.ReplaceAll(text, []byte("{{token}}"), []byte(good)), &event))
			h := newHarness(t, issuers.Setting(), time.Now)
			answer, err := h.authorize(context.Background(), event)
			switch {
			case strings.HasPrefix(name, "authorizer-allow"):
				if err != nil || answer.PolicyDocument.Statement[0].Effect != "Allow" || answer.Context["userId"] != c.token.User {
					t.Errorf("answer %s, error %v", tokentest.JSON(answer), err)
				}
			case strings.HasPrefix(name, "authorizer-deny"):
				mustDeny(t, answer, err)
			default:
				mustBeUnauthorized(t, answer, err)
			}
			expect.Equal(t, h.outcome(t), c.want, "outcome")
			expect.That(t, strings.Contains(h.log.String(), event.RequestContext.RequestID),
				"the log line does not name the gateway's request")
		})
	}
}
