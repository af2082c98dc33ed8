package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/access/auth"
)

// organizationAttribute is the user attribute with the organization. Only an administrator of the pool can write it.
const organizationAttribute = "organization"

// issuers gives the authorizer's setting: the issuers of the settings and, if none of them is for people, the stack's
// own user pool. It contains the pool's ids, which are known only at deploy time.
func (s *service) issuers() *string {
	issuers := slices.Clone(s.settings.Issuers)
	if s.held.pool != nil {
		issuers = append(issuers, s.addPoolClient(*s.held.pool))
	}
	return s.stack.ToJsonString(issuers, nil)
}

func (p part) mfa() awscognito.Mfa {
	if p.settings.RequireMFA {
		return awscognito.Mfa_REQUIRED
	}
	return awscognito.Mfa_OPTIONAL
}

// addUserPool makes the pool for people and its groups, named like the roles. The pre-token-generation function writes
// the claims of the pool's tokens.
func (p part) addUserPool() *poolRef {
	trigger := p.addFunction(helper(preTokenGeneration, "Put organization and roles into access tokens", nil), nil)
	pool := awscognito.NewUserPool(p.stack, jsii.String("people"), &awscognito.UserPoolProps{
		SelfSignUpEnabled: jsii.Bool(false),
		SignInAliases:     &awscognito.SignInAliases{Email: jsii.Bool(true)},
		// Ann@example.com is ann@example.com. A pool cannot change this later.
		SignInCaseSensitive: jsii.Bool(false),
		AutoVerify:          &awscognito.AutoVerifiedAttrs{Email: jsii.Bool(true)},
		KeepOriginal:        &awscognito.KeepOriginalAttrs{Email: jsii.Bool(true)},
		AccountRecovery:     awscognito.AccountRecovery_EMAIL_ONLY,
		CustomAttributes: &map[string]awscognito.ICustomAttribute{
			organizationAttribute: awscognito.NewStringAttribute(&awscognito.StringAttributeProps{
				MaxLen: jsii.Number(64), Mutable: jsii.Bool(true),
			}),
		},
		PasswordPolicy: &awscognito.PasswordPolicy{
			MinLength: jsii.Number(12), RequireLowercase: jsii.Bool(true), RequireUppercase: jsii.Bool(true),
			RequireDigits: jsii.Bool(true), RequireSymbols: jsii.Bool(true),
			TempPasswordValidity: awscdk.Duration_Days(jsii.Number(3)),
		},
		Mfa:             p.mfa(),
		MfaSecondFactor: &awscognito.MfaSecondFactor{Otp: jsii.Bool(true), Sms: jsii.Bool(false)},
		// Essentials is the cheapest plan whose trigger may change access tokens.
		FeaturePlan:        awscognito.FeaturePlan_ESSENTIALS,
		DeletionProtection: jsii.Bool(p.settings.Keeps()),
		RemovalPolicy:      p.removal(),
	})
	excuse(pool, "AwsSolutions-COG2", "The setting requireMfa requires a second factor; without it, each person may set one up.")
	excuse(pool, "AwsSolutions-COG3", "Threat protection needs the Plus plan, at several times the price per person; the pool has no self sign-up and few people.")
	pool.AddTrigger(awscognito.UserPoolOperation_PRE_TOKEN_GENERATION_CONFIG(), trigger, awscognito.LambdaVersion_V2_0)

	for _, role := range auth.People {
		awscognito.NewCfnUserPoolGroup(p.stack, jsii.String("group-"+string(role)), &awscognito.CfnUserPoolGroupProps{
			UserPoolId: pool.UserPoolId(), GroupName: jsii.String(string(role)),
		})
	}
	p.output("UserPoolId", "The user pool of the people who use the service", pool.UserPoolId())
	issuer := awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://cognito-idp."), p.stack.Region(), jsii.String("."), p.stack.UrlSuffix(), jsii.String("/"), pool.UserPoolId(),
	})
	return &poolRef{id: pool.UserPoolId(), url: issuer, trigger: trigger.FunctionName()}
}

// addPoolClient makes the clients with which people sign in, by password or with a browser, and returns what the
// authorizer needs to know about the pool.
func (s *service) addPoolClient(pool poolRef) map[string]any {
	people := awscognito.UserPool_FromUserPoolId(s.stack, jsii.String("pool"), pool.id)
	client := awscognito.NewUserPoolClient(s.stack, jsii.String("client"), &awscognito.UserPoolClientProps{
		UserPool:                   people,
		AuthFlows:                  &awscognito.AuthFlow{UserSrp: jsii.Bool(true), UserPassword: jsii.Bool(true)},
		DisableOAuth:               jsii.Bool(true),
		EnableTokenRevocation:      jsii.Bool(true),
		PreventUserExistenceErrors: jsii.Bool(true),
		AccessTokenValidity:        awscdk.Duration_Hours(jsii.Number(1)),
		RefreshTokenValidity:       awscdk.Duration_Hours(jsii.Number(12)),
		WriteAttributes:            ownAttributes(),
	})
	operator := s.addLogin(pool, people)
	s.output("UserPoolClientId", "The client with which people sign in by password", client.UserPoolClientId())
	return map[string]any{
		"issuer":    pool.url,
		"clientIds": []any{client.UserPoolClientId(), operator.UserPoolClientId()},
		"jwksUrl":   *pool.url + "/.well-known/jwks.json",
		// These are the claims that the pre-token-generation function writes.
		"organizationClaim": "org",
		"rolesClaim":        "roles",
		"grants":            auth.People,
	}
}
