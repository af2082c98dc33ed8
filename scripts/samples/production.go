package samples

var production = []Sample{
	{
		Operation: "put-factory", By: Owner,
		Defaults: Values{"name": "Munich, hall 1"},
		Body:     `{"organizationId":"{organization}","name":"{name}"}`,
		About:    About{"factory", "{factoryId}"},
		Weight:   4,
	},
	{
		Operation: "get-factory", By: Engineer, After: After("put-factory"),
		About: About{"factory", "{factoryId}"},
	},
	{
		Operation: "list-factories", By: Admin, After: After("put-factory"),
		Query: "organizationId={organization}",
		About: About{"factory", "{factoryId}"},
		Cases: []Case{page("factoryId", "limit=10")},
	},
	{
		Operation: "create-production-method", By: Engineer, After: After("put-factory"),
		Defaults: Values{"name": "Milling"},
		Body:     `{"productId":"{product}","name":"{name}"}`,
		Makes:    "methodId",
		About:    About{"production-method", "{methodId}"},
	},
	{
		Operation: "get-production-method", By: Engineer, After: After("create-production-method"),
		About: About{"production-method", "{methodId}"},
	},
	{
		Operation: "list-production-methods", By: Engineer, After: After("create-production-method"),
		Query: "productId={product}",
		About: About{"production-method", "{methodId}"},
		Cases: []Case{page("name", "limit=10")},
	},
	{
		Operation: "put-machine", By: Engineer, After: After("put-factory"),
		Defaults: Values{"name": "Press 1"},
		Body:     `{"name":"{name}"}`,
		About:    About{"machine", "{code}"},
	},
	{
		Operation: "get-machine", By: Engineer, After: After("put-machine"),
		About: About{"machine", "{code}"},
	},
	{
		Operation: "list-machines", By: Engineer, After: After("put-machine"),
		About: About{"machine", "{code}"},
		Cases: []Case{
			page("code", "limit=10"),
			{Name: "10 of a page, offset 10", Query: "offset=10&limit=10", Each: "code"},
		},
	},
}
