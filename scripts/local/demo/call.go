package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
)

// The people of the demo.
var (
	olga = person("olga", "wavegate", auth.PlatformOwner)
	mia  = person("mia", "wavegate", auth.PlatformOwner)
	eric = person("eric", "acme", auth.ProductionEngineer)
	anna = person("anna", "acme", auth.OrganizationAdmin)
)

func person(name, organization string, role auth.Role) devissuer.Claims {
	return devissuer.Claims{User: name, Organization: organization, Roles: []string{string(role)}}
}

// call calls the service as a person. The answer must be a success.
func (d *demo) call(ctx context.Context, by devissuer.Claims, method, path, body string, into any) (http.Header, error) {
	token, err := d.token(by)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, d.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %d %.300s", method, path, answer.StatusCode, text)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	return answer.Header, err
}
