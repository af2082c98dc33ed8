package samples

var trail = []Sample{
	{
		Operation: "list-audit-events", By: Owner, After: After("put-factory"),
		Query: "resourceType=factory&resourceId={factoryId}",
		Cases: []Case{page("factoryId", "limit=10")},
		Also:  []Case{{Query: "resourceType=edge"}},
	},
	{
		Operation: "list-factory-audit-events", By: Admin, After: After("put-machine"),
		Query: "from=2026-03-01T00:00:00Z",
		Cases: []Case{page("code", "limit=10")},
	},
	{
		Operation: "export-organization", By: Admin, After: After("put-edge", "put-machine"),
		Defaults: Values{"organizationId": "{organization}"},
		Cases:    []Case{page("edgeId", "limit=10")},
	},
}
