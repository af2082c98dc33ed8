package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/platform/lambdahttp"
)

// A Login is how people sign in with a browser. The API publishes it at operations.LoginPath.
type Login struct {
	Issuer                string `json:"issuer"`
	AuthorizationEndpoint string `json:"authorizationEndpoint"`
	TokenEndpoint         string `json:"tokenEndpoint"`
	ClientID              string `json:"clientId"`
	Scope                 string `json:"scope"`
}

// loginPorts are the ports at which the operator's command waits for the answer to a login, on the person's machine.
// Cognito accepts only registered addresses, and http only for localhost.
var loginPorts = []int{47813, 47814, 47815}

// readLogin reads how people sign in if their issuer is not the stack's own pool.
func readLogin(r *reader) *Login {
	var l *Login
	r.structured("login", &l)
	if l == nil {
		return nil
	}
	if !absolute(l.Issuer, "https") || !absolute(l.AuthorizationEndpoint, "https") || !absolute(l.TokenEndpoint, "https") || l.ClientID == "" {
		r.fault("login: give issuer, authorizationEndpoint and tokenEndpoint as https URLs, and clientId")
	}
	return l
}

// addLogin makes the browser login: the pool's login pages under an AWS domain, and a client for the authorization code
// flow with PKCE. The client has no secret and accepts no passwords.
func (s *service) addLogin(pool poolRef, people awscognito.IUserPool) awscognito.UserPoolClient {
	var callbacks []string
	for _, port := range loginPorts {
		callbacks = append(callbacks, fmt.Sprintf("http://localhost:%d/callback", port))
	}
	if s.settings.Console != "" {
		callbacks = append(callbacks, s.settings.Console+operations.ConsolePath)
	}
	client := awscognito.NewUserPoolClient(s.stack, jsii.String("operator"), &awscognito.UserPoolClientProps{
		UserPool: people,
		OAuth: &awscognito.OAuthSettings{
			Flows:        &awscognito.OAuthFlows{AuthorizationCodeGrant: jsii.Bool(true)},
			Scopes:       &[]awscognito.OAuthScope{awscognito.OAuthScope_OPENID()},
			CallbackUrls: texts(callbacks...),
		},
		SupportedIdentityProviders: &[]awscognito.UserPoolClientIdentityProvider{awscognito.UserPoolClientIdentityProvider_COGNITO()},
		EnableTokenRevocation:      jsii.Bool(true),
		PreventUserExistenceErrors: jsii.Bool(true),
		AccessTokenValidity:        awscdk.Duration_Hours(jsii.Number(1)),
		RefreshTokenValidity:       awscdk.Duration_Hours(jsii.Number(12)),
		WriteAttributes:            ownAttributes(),
	})
	prefix := awscdk.Fn_Join(jsii.String("-"), &[]*string{jsii.String(s.name()), s.stack.Account()})
	domain := awscognito.NewCfnUserPoolDomain(s.stack, jsii.String("login"), &awscognito.CfnUserPoolDomainProps{
		UserPoolId: pool.id, Domain: prefix, ManagedLoginVersion: jsii.Number(2),
	})
	// Without a style, even AWS's own, the pages report that they are unavailable.
	style := awscognito.NewCfnManagedLoginBranding(s.stack, jsii.String("login-style"), &awscognito.CfnManagedLoginBrandingProps{
		UserPoolId: pool.id, ClientId: client.UserPoolClientId(), UseCognitoProvidedValues: jsii.Bool(true),
	})
	style.AddResourceDependency(domain, nil)
	host := "https://" + *prefix + ".auth." + *s.stack.Region() + ".amazoncognito.com"
	s.login = &Login{
		Issuer: *pool.url, AuthorizationEndpoint: host + "/oauth2/authorize", TokenEndpoint: host + "/oauth2/token",
		ClientID: *client.UserPoolClientId(), Scope: "openid",
	}
	return client
}

// ownAttributes are the attributes that people may change themselves. The list keeps them from changing their organization,
// and the name with which they sign production methods.
func ownAttributes() awscognito.ClientAttributes {
	return awscognito.NewClientAttributes().WithStandardAttributes(&awscognito.StandardAttributesMask{Email: jsii.Bool(true)})
}

// loginAnswer is API Gateway's own answer at operations.LoginPath. It reveals nothing that a login page does not.
func (l Login) loginAnswer() mock {
	body, err := json.Marshal(l)
	if err != nil {
		panic(err) // it is made of texts
	}
	h := http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"no-cache"}}
	maps.Copy(h, lambdahttp.SecurityHeaders())
	headers := map[string]string{}
	for name := range h {
		headers[name] = "'" + h.Get(name) + "'"
	}
	return mock{status: http.StatusOK, headers: headers, body: string(body), passthrough: "when_no_match"}
}
