// Package devissuer simulates the issuers of access tokens on a developer's machine: one for people and one for the
// fleet, each with its own key. Their keys are in a directory that is never committed. A token is valid as long as
// the local service uses the same directory.
//
// It is only for local runs and tests; deployed code does not import it.
package devissuer

import (
	"context"
	"crypto"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
)

// Names of the issuers, and the audiences of their tokens. Each deployment has its own audience for programs.
const (
	People   = "https://people.wavegate.localhost"
	Fleet    = "https://fleet.wavegate.localhost"
	Programs = "https://programs.wavegate.localhost"
	Audience = "wavegate"

	ProgramsAudience = "wavegate-dev"
)

// subjects are the programs that the local service knows: a job like one of GitHub and one like one of GitLab. Each
// may publish on gateway-x/canary and start a rollout on gateway-x/stable.
var subjects = map[string]any{
	"repo:acme/firmware:ref:refs/heads/main":              channels,
	"project_path:acme/firmware:ref_type:branch:ref:main": channels,
}

var channels = map[string][]string{"publish": {"gateway-x/canary"}, "start": {"gateway-x/stable"}}

// TrustedProgram is a job that TrustingSetting knows. It may end a rollout of somebody else on gateway-x/canary, and its
// artifacts must be on ArtifactHost.
const (
	TrustedProgram = "repo:acme/firmware:environment:prod"
	ArtifactHost   = "artifacts.example"
)

// Claims are the content of a token.
type Claims struct {
	User         string         // required; for a box, its edge id
	Organization string         // may be empty
	Roles        []string       // may be empty; edge and program cannot be combined
	TTL          time.Duration  // 0 means one hour; at most a day, 30 days for a box, an hour for a program; less than 0 gives an expired token
	More         map[string]any // further claims
}

// Issuers are the local issuers. They are safe for concurrent use.
type Issuers struct {
	people, fleet, programs issuer
	setting, trusting       string
	verifier                func(at time.Time) *token.Verifier
	now                     func() time.Time
}

// An issuer signs with one key.
type issuer struct {
	name     string
	audience string
	key      crypto.Signer
	keyID    string
	method   jwt.SigningMethod
	grants   []auth.Role
	longest  time.Duration     // the longest lifetime of a token
	publish  map[string]string // its public key as a JWK
}

// Load reads the issuers' keys from a directory, or makes them if they do not exist. An empty
// dir means Dir. Several processes may load the keys at the same time, and all get the same
// ones.
func Load(dir string) (*Issuers, error) {
	if dir == "" {
		var err error
		if dir, err = Dir(); err != nil {
			return nil, err
		}
	}
	people, err := loadP256(dir, "people.pem")
	if err != nil {
		return nil, err
	}
	fleet, err := loadEd25519(dir, "fleet.pem")
	if err != nil {
		return nil, err
	}
	programs, err := loadP256(dir, "programs.pem")
	if err != nil {
		return nil, err
	}
	people.name, fleet.name, programs.name = People, Fleet, Programs
	people.audience, fleet.audience, programs.audience = Audience, Audience, ProgramsAudience
	people.grants = auth.People
	fleet.grants = []auth.Role{auth.Edge}
	people.longest, fleet.longest, programs.longest = 24*time.Hour, 30*24*time.Hour, time.Hour
	i := &Issuers{people: people, fleet: fleet, programs: programs, now: time.Now}
	if i.setting, err = setting(subjects, people, fleet, programs); err != nil {
		return nil, err
	}
	more := maps.Clone(subjects)
	more[TrustedProgram] = map[string][]string{"publish": {"gateway-x/canary"}, "override": {"gateway-x/canary"}, "hosts": {ArtifactHost}}
	if i.trusting, err = setting(more, people, fleet, programs); err != nil {
		return nil, err
	}
	trusted, err := token.ParseIssuers(i.trusting)
	if err != nil {
		return nil, err
	}
	i.verifier = func(at time.Time) *token.Verifier {
		return token.New(trusted, token.Options{Now: func() time.Time { return at }})
	}
	return i, nil
}

// Setting is the value of AUTH_ISSUERS that trusts these issuers, with their public keys.
func (i *Issuers) Setting() string { return i.setting }

// TrustingSetting is Setting with TrustedProgram. It has fields that releases before it do not know.
func (i *Issuers) TrustingSetting() string { return i.trusting }

func setting(subjects map[string]any, issuers ...issuer) (string, error) {
	var list []map[string]any
	for _, i := range issuers {
		entry := map[string]any{
			"issuer": i.name, "audience": []string{i.audience}, "maxLifetimeSeconds": i.longest / time.Second,
			"jwks": map[string]any{"keys": []any{i.publish}},
		}
		if i.grants == nil {
			entry["subjects"] = subjects
		} else {
			entry["grants"] = i.grants
		}
		list = append(list, entry)
	}
	b, err := json.Marshal(list)
	return string(b), err
}

// Token makes an access token. The fleet's issuer signs tokens with the role edge, that of programs those with the role
// program, and the people's issuer all others. It returns an error for a token that the service would refuse.
func (i *Issuers) Token(c Claims) (string, error) {
	for _, role := range c.Roles {
		if !slices.Contains(auth.Roles, auth.Role(role)) {
			return "", fmt.Errorf("there is no role %q; the roles are %v", role, auth.Roles)
		}
	}
	signer := i.people
	for role, other := range map[auth.Role]issuer{auth.Edge: i.fleet, auth.Program: i.programs} {
		if slices.Contains(c.Roles, string(role)) {
			signer = other
			if len(c.Roles) > 1 {
				return "", fmt.Errorf("the role %s cannot be combined with others: its caller is not a person", role)
			}
		}
	}
	if c.TTL == 0 {
		c.TTL = time.Hour
	}
	expires := i.now().Add(c.TTL)
	issued := i.now()
	if c.TTL < 0 {
		issued = expires.Add(-time.Hour)
	}
	claims := jwt.MapClaims{
		"iss": signer.name, "aud": signer.audience, "sub": c.User, "token_use": "access",
		"iat": issued.Unix(), "exp": expires.Unix(), "roles": slices.Concat([]string{}, c.Roles),
		"name": c.User, "auth_time": issued.Unix(),
	}
	if c.Organization != "" {
		claims["org"] = c.Organization
	}
	maps.Copy(claims, c.More)
	t := jwt.NewWithClaims(signer.method, claims)
	t.Header["kid"], t.Header["typ"] = signer.keyID, "at+jwt"
	signed, err := t.SignedString(signer.key)
	if err != nil {
		return "", err
	}
	if _, err := i.verifier(issued).Verify(context.Background(), signed); err != nil {
		return "", fmt.Errorf("the service would refuse this token: %w", err)
	}
	return signed, nil
}
