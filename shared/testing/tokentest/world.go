package tokentest

import (
	"encoding/json"
	"sync"
	"time"
)

// Names in a World.
const (
	People   = "https://people.example"
	Customer = "https://login.initech.example" // a customer's own issuer of people
	Fleet    = "https://fleet.example"
	Audience = "wavegate"
	Client   = "the-app" // an allow-listed client_id of People
)

// A World is three issuers with their keys, and the setting that describes them.
type World struct {
	Now time.Time
	// PeopleES256, PeopleRS256 and PeopleEdDSA are the keys of the people's issuer. The
	// customer's issuer and the fleet's have one key each.
	PeopleES256, PeopleRS256, PeopleEdDSA, CustomerKey, FleetKey Key
	// Setting is the value of AUTH_ISSUERS.
	Setting string
}

var keys = sync.OnceValue(func() [5]Key {
	return [5]Key{NewES256("es"), NewRS256("rs", 2048), NewEdDSA("ed"), NewES256("fleet"), NewES256("customer")}
})

// NewWorld makes a world. Its keys are made once per process.
func NewWorld(now time.Time) World {
	k := keys()
	w := World{Now: now, PeopleES256: k[0], PeopleRS256: k[1], PeopleEdDSA: k[2], FleetKey: k[3], CustomerKey: k[4]}
	w.Setting = JSON([]any{
		map[string]any{
			"issuer": People, "audience": []string{Audience}, "clientIds": []string{Client},
			"jwks":          json.RawMessage(KeySet(w.PeopleES256, w.PeopleRS256, w.PeopleEdDSA)),
			"grants":        []string{"platform_owner", "organization_admin", "production_engineer"},
			"organizations": []string{"acme", "rival"},
		},
		map[string]any{
			"issuer": Customer, "audience": []string{Audience},
			"jwks":   json.RawMessage(KeySet(w.CustomerKey)),
			"grants": []string{"organization_admin", "production_engineer"}, "organizations": []string{"initech-*"},
		},
		map[string]any{
			"issuer": Fleet, "audience": []string{Audience},
			"jwks": json.RawMessage(KeySet(w.FleetKey)), "grants": []string{"edge"}, "maxLifetimeSeconds": 86400 * 30,
		},
	})
	return w
}

// Person drafts a good token of a person, good for an hour.
func (w World) Person() Draft {
	return Draft{
		Header: map[string]any{"typ": "at+jwt"},
		Claims: map[string]any{
			"iss": People, "aud": Audience, "sub": "ada", "org": "acme", "roles": []string{"production_engineer"},
			"iat": w.Now.Unix(), "exp": w.Now.Add(time.Hour).Unix(),
		},
	}.By(w.PeopleES256)
}

// Employee drafts a good token of a person of the customer, good for an hour.
func (w World) Employee() Draft {
	return w.Person().With("iss", Customer).With("sub", "peter").With("org", "initech-austin").By(w.CustomerKey)
}

// Box drafts a good token of a box, good for an hour.
func (w World) Box() Draft {
	return Draft{
		Header: map[string]any{"typ": "JWT"},
		Claims: map[string]any{
			"iss": Fleet, "aud": Audience, "sub": "box-7", "org": "acme", "roles": "edge",
			"iat": w.Now.Unix(), "exp": w.Now.Add(time.Hour).Unix(),
		},
	}.By(w.FleetKey)
}
