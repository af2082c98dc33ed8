package samples

var access = []Sample{
	{
		Operation: "put-rate-limit", By: Owner,
		Defaults: Values{"kind": "users", "id": "{user}", "limit": "1200"},
		Body:     `{"limit":{limit},"reason":"data migration"}`,
		About:    About{"rate-limit", "{kind}/{id}"},
		Also:     []Case{{With: organizations, Body: `{"limit":6000,"copilotLimit":{limit},"boxLimit":1000000}`}},
		Weight:   2,
	},
	{
		Operation: "get-rate-limit", By: Owner, After: After("put-rate-limit"),
		Defaults: Values{"kind": "users", "id": "{user}"},
		About:    About{"rate-limit", "{kind}/{id}"},
		Also:     []Case{{With: organizations}},
	},
	{
		Operation: "delete-rate-limit", By: Owner, After: After("put-rate-limit"),
		Defaults: Values{"kind": "users", "id": "{user}"},
		About:    About{"rate-limit", "{kind}/{id}"},
		Also:     []Case{{With: organizations}},
	},
	{
		Operation: "get-my-rate-limits", By: Engineer,
		Shows: `{"userId":"eric","organizationId":"{organization}"}`,
	},
}

// organizations makes the limit one for an organization instead of a user.
var organizations = Values{"kind": "organizations", "id": "{organization}"}
