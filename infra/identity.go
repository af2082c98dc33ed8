package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/access/auth"
)

// organizationAttribute is the user's attribute that names their organization. Only an administrator
// of the pool writes it.
const organizationAttribute = "organization"

// addIdentity gives the authorizer's setting: the issuers of the settings and, where none of them
// speaks for people, the stack's own user pool. It holds the pool's ids, which only a deploy knows.
func (s *service) addIdentity() *string {
	issuers := slices.Clone(s.settings.Issuers)
	if s.settings.OwnUserPool() {
		issuers = append(issuers, s.addUserPool())
	}
	return s.stack.ToJsonString(issuers, nil)
}

func (s *service) mfa() awscognito.Mfa {
	if s.settings.RequireMFA {
		return awscognito.Mfa_REQUIRED
	}
	return awscognito.Mfa_OPTIONAL
}

// addUserPool makes the pool for people, its groups named like the roles, and the client they log in
// with. The pool's tokens carry what the pre-token-generation function puts into them.
func (s *service) addUserPool() map[string]any {
	trigger := s.addHelper(preTokenGeneration, "Put organization and roles into access tokens", nil)
	pool := awscognito.NewUserPool(s.stack, jsii.String("people"), &awscognito.UserPoolProps{
		SelfSignUpEnabled: jsii.Bool(false),
		SignInAliases:     &awscognito.SignInAliases{Email: jsii.Bool(true)},
		// Ann@example.com is ann@example.com. A pool cannot change its mind later.
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
		Mfa:             s.mfa(),
		MfaSecondFactor: &awscognito.MfaSecondFactor{Otp: jsii.Bool(true), Sms: jsii.Bool(false)},
		// Essentials is the first plan whose trigger may write access tokens.
		FeaturePlan:        awscognito.FeaturePlan_ESSENTIALS,
		DeletionProtection: jsii.Bool(s.settings.Keeps()),
		RemovalPolicy:      s.removal(),
	})
	excuse(pool, "AwsSolutions-COG2", "Whether people need a second factor is the setting requireMfa; without it each may set one up.")
	excuse(pool, "AwsSolutions-COG3", "Threat protection needs the Plus plan, at several times the price for each person; the pool has no self sign-up and few people.")
	pool.AddTrigger(awscognito.UserPoolOperation_PRE_TOKEN_GENERATION_CONFIG(), trigger, awscognito.LambdaVersion_V2_0)

	var grants []auth.Role
	for _, role := range auth.Roles {
		if role == auth.Edge {
			continue // boxes are no people
		}
		grants = append(grants, role)
		awscognito.NewCfnUserPoolGroup(s.stack, jsii.String("group-"+string(role)), &awscognito.CfnUserPoolGroupProps{
			UserPoolId: pool.UserPoolId(), GroupName: jsii.String(string(role)),
		})
	}
	client := pool.AddClient(jsii.String("client"), &awscognito.UserPoolClientOptions{
		AuthFlows:                  &awscognito.AuthFlow{UserSrp: jsii.Bool(true), UserPassword: jsii.Bool(true)},
		DisableOAuth:               jsii.Bool(true),
		EnableTokenRevocation:      jsii.Bool(true),
		PreventUserExistenceErrors: jsii.Bool(true),
		AccessTokenValidity:        awscdk.Duration_Hours(jsii.Number(1)),
		RefreshTokenValidity:       awscdk.Duration_Hours(jsii.Number(12)),
		// Naming what a person may change keeps them from changing their organization, and the name that
		// they sign production methods with.
		WriteAttributes: awscognito.NewClientAttributes().WithStandardAttributes(&awscognito.StandardAttributesMask{
			Email: jsii.Bool(true),
		}),
	})
	s.output("UserPoolId", "The user pool of the people who use the service", pool.UserPoolId())
	s.output("UserPoolClientId", "The client that people log in with", client.UserPoolClientId())
	return map[string]any{
		"issuer":    pool.UserPoolProviderUrl(),
		"clientIds": []any{client.UserPoolClientId()},
		"jwksUrl":   *pool.UserPoolProviderUrl() + "/.well-known/jwks.json",
		// The names that the pre-token-generation function writes.
		"organizationClaim": "org",
		"rolesClaim":        "roles",
		"grants":            grants,
	}
}
