package samples

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/url"
	"strings"
	"text/template"

	"github.com/google/uuid"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/operations/table"
)

// The shape follows recorded events of a Lambda proxy integration, with one difference: the body is text, not base64,
// so that people can read it.
//
//go:embed event.json.tmpl
var eventText string

var eventTemplate = template.Must(template.New("event").Funcs(template.FuncMap{"json": encode, "single": single}).Parse(eventText))

// Event returns the text of the sample's event file.
func (s Sample) Event() ([]byte, error) { return s.Call(fixed, Case{}).Event() }

// Event returns the call as the input of the operation's function, as in the event files.
func (call Call) Event() ([]byte, error) {
	op := table.Get(call.Operation)
	path, query, _ := strings.Cut(call.Path, "?")
	headers := map[string][]string{
		"Accept": {"application/json"}, "Authorization": {"Bearer <ACCESS_TOKEN>"},
		"Host": {"a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com"}, "User-Agent": {"curl/8.5.0"},
		"X-Amzn-Trace-Id": {"Root=1-69a42d40-5f1e2a3b4c5d6e7f80912a3b"},
		"X-Forwarded-For": {"192.0.2.17"}, "X-Forwarded-Port": {"443"}, "X-Forwarded-Proto": {"https"},
	}
	var body *string
	if call.Body != "" {
		headers["Content-Type"], body = []string{"application/json"}, &call.Body
	}
	if idempotent(op) {
		headers[idempotencyKey] = []string{fixed["key"]}
	}
	var values url.Values
	if query != "" {
		var err error
		if values, err = url.ParseQuery(query); err != nil {
			return nil, err
		}
	}
	issuer, user, credential := devissuer.People, call.By.User, ""
	switch call.By.Role {
	case auth.Edge:
		issuer = devissuer.Fleet
	case auth.Enrolment:
		code, _ := boxtoken.Parse(call.By.Code())
		p := code.Principal("", "")
		issuer, user, credential = p.Issuer, p.UserID, p.Credential
	}
	authorizer := map[string]any{
		"issuer": issuer, "userId": user, "organizationId": call.By.Organization, "roles": string(call.By.Role),
		"exp": "4102444800", "principalId": issuer + " " + user, "integrationLatency": 3,
	}
	if credential != "" {
		authorizer["credential"] = credential
	}
	var text bytes.Buffer
	err := eventTemplate.Execute(&text, map[string]any{
		"Resource": op.Path, "Path": path, "Method": call.Method, "Parameters": call.Parameters,
		"Headers": headers, "Query": values, "Body": body,
		"RequestID":  uuid.NewSHA1(uuid.NameSpaceURL, []byte(call.Operation)).String(),
		"Authorizer": authorizer,
	})
	return text.Bytes(), err
}

// encode returns JSON on one line, as people would write it.
func encode(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSpace(b.String()), err
}

// single keeps the last value of each name; nil if there are none.
func single(all map[string][]string) map[string]string {
	if len(all) == 0 {
		return nil
	}
	one := map[string]string{}
	for name, values := range all {
		one[name] = values[len(values)-1]
	}
	return one
}
