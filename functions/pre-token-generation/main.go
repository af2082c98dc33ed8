// Command pre-token-generation is the trigger that the stack's own user pool calls before it issues a token (Cognito,
// "Pre token generation Lambda trigger", version V2_0). It puts the user's organization, roles and name into the access
// token, in the claims that the authorizer's settings name. A group of the pool is a role.
package main

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"wavegate/shared/access/auth"
)

// organizationAttribute holds the user's organization. No client of the pool may write it.
const organizationAttribute = "custom:organization"

func main() { lambda.Start(generate) }

// An event is what Cognito sends and expects back, with the response filled in. The library's type would send null for
// everything that is not changed, groups included.
type event struct {
	events.CognitoEventUserPoolsHeader
	Request  events.CognitoEventUserPoolsPreTokenGenRequestV2_0 `json:"request"`
	Response response                                           `json:"response"`
}

type response struct {
	Details details `json:"claimsAndScopeOverrideDetails"`
}

type details struct {
	AccessToken accessToken `json:"accessTokenGeneration"`
}

type accessToken struct {
	Claims map[string]string `json:"claimsToAddOrOverride"`
}

func generate(_ context.Context, e event) (event, error) {
	e.Response.Details.AccessToken.Claims = claims(e.Request.UserAttributes, e.Request.GroupConfiguration.GroupsToOverride)
	return e, nil
}

// claims returns what the access token contains besides Cognito's own claims. Empty claims are omitted. Boxes and
// programs are not people, so a group named edge makes nobody a box.
func claims(attributes map[string]string, groups []string) map[string]string {
	roles := slices.DeleteFunc(slices.Clone(groups), func(group string) bool {
		return !slices.Contains(auth.People, auth.Role(group))
	})
	slices.Sort(roles)
	claims := map[string]string{}
	if organization := attributes[organizationAttribute]; organization != "" {
		claims["org"] = organization
	}
	if name := attributes["name"]; name != "" {
		claims["name"] = name
	}
	if len(roles) > 0 {
		claims["roles"] = strings.Join(roles, " ")
	}
	return claims
}
