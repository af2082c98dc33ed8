package samples

import (
	"net/http"

	"wavegate/shared/access/auth"
)

var production = []Sample{
	{
		Operation: "put-factory", By: Owner,
		Defaults: Values{"name": "Munich, hall 1"},
		Body:     `{"organizationId":"{organization}","name":"{name}"}`,
		About:    About{"factory", "{factoryId}"},
		Weight:   4,
		Also: []Case{
			{Body: `{"organizationId":"{organization}","name":"{name}","updates":{"timeZone":"Europe/Paris","windows":[{"from":"02:00","to":"04:00"}]}}`},
			{Body: `{"organizationId":"{organization}","name":"{name}","updates":{"pausedUntil":"{soon}","reason":"stocktaking"}}`},
			{Body: `{"organizationId":"{organization}","name":"{name}","updates":{"opensAtDeadline":true,"optOut":{"of":"ordinary","reason":"certified","until":"{soon}"}}}`},
			{Body: `{"organizationId":"{organization}","name":"{name}","updates":{"windows":[],"pausedUntil":null,"optOut":null,"opensAtDeadline":false}}`},
		},
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
		Body:     `{"productId":"{productId}","name":"{name}"}`,
		Makes:    "methodId",
		About:    About{"production-method", "{methodId}"},
	},
	{
		Operation: "get-production-method", By: Engineer, After: After("create-production-method"),
		About: About{"production-method", "{methodId}"},
	},
	{
		Operation: "update-production-method", By: Engineer, After: After("create-production-method"), Status: http.StatusOK,
		Defaults: Values{"title": "Milling, two passes"},
		Body:     `{"name":"{title}"}`,
		About:    About{"production-method", "{methodId}"},
	},
	{
		Operation: "list-production-methods", By: Engineer, After: After("create-production-method"),
		Query: "productId={productId}",
		About: About{"production-method", "{methodId}"},
		Cases: []Case{page("name", "limit=10")},
	},
	{
		Operation: "put-machine", By: Engineer, After: After("put-factory"),
		Defaults: Values{"name": "Press 1", "box": ""},
		Body:     `{"name":"{name}","classes":["press"]{box}}`,
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
	{
		Operation: "put-product", By: Engineer, After: After("put-factory"),
		Defaults: Values{"name": "Housing, left"},
		Body:     `{"name":"{name}","number":"4711-03","productRevision":"B"}`,
		About:    About{"product", "{productId}"},
		Also:     []Case{{Body: `{"name":"{name}","status":"retired"}`}},
	},
	{
		Operation: "get-product", By: Engineer, After: After("put-product"),
		About: About{"product", "{productId}"},
	},
	{
		Operation: "list-products", By: Engineer, After: After("put-product"),
		About: About{"product", "{productId}"},
		Cases: []Case{page("productId", "limit=10")},
	},
	{
		Operation: "put-method-content", By: Engineer, After: After("create-production-method"), Weight: 16,
		Defaults: Values{"number": "1", "step": "Press"},
		Body: `{"form":1,"basis":{"quantity":1,"unit":"kg"},"steps":[{"id":"10","name":"{step}","equipment":{"class":"press"},` +
			`"run":{"time":"PT1M","per":{"quantity":1,"unit":"kg"}},"outputs":[{"material":"PART","quantity":1,"unit":"kg"}]}]}`,
		About: About{versionType, "{methodId}:{number}"},
		Cases: []Case{
			{Name: "new"},
			{Name: "saved again", After: After("put-method-content"), With: Values{"step": "Press twice"}, Status: http.StatusNoContent},
		},
	},
	{
		Operation: "get-method-content", By: Engineer, After: After("put-method-content"), Weight: 8,
		Defaults: Values{"number": "1"},
		About:    About{versionType, "{methodId}:{number}"},
	},
	{
		Operation: "get-method-version", By: Engineer, After: After("put-method-content"),
		Defaults: Values{"number": "1"},
		About:    About{versionType, "{methodId}:{number}"},
		Shows:    `{"methodId":"{methodId}","status":"draft"}`,
	},
	{
		Operation: "list-method-versions", By: Engineer, After: After("put-method-content"),
		About: About{versionType, "{methodId}:{version}"},
		// A method has one open version at a time.
		Cases: []Case{{
			Name: "10 of a page", Query: "limit=10", Each: numbered,
			After: []Step{{"update-method-version", Values{"status": "withdrawn"}}},
		}},
	},
	{
		Operation: "update-method-version", By: Caller{"{signer}", "{organization}", auth.OrganizationAdmin}, After: After("put-machine", "put-method-content"),
		Status:   http.StatusOK,
		Weight:   40, // a version can be approved only after two other moves
		Defaults: Values{"number": "1", "signer": "anna", "status": "in_review", "details": ""},
		Body:     `{"status":"{status}","reason":"Pressed and measured"{details}}`,
		About:    About{versionType, "{methodId}:{number}"},
		Cases: []Case{
			{Name: "submit"},
			{Name: "return", After: []Step{submitted}, With: Values{"status": "draft"}},
			{Name: "release", After: []Step{submitted, {Operation: "get-method-content"}}, With: release},
			{Name: "withdraw", After: []Step{submitted, {Operation: "get-method-content"}, {"update-method-version", release}},
				With: Values{"status": "withdrawn"}},
		},
		Also: []Case{
			{With: Values{"status": "draft"}},
			{With: release}, {With: release},
			{With: Values{"status": "trial", "details": `,"contentSha256":{etag},"machines":["{code}"]`}},
			{With: Values{"status": "released", "details": `,"contentSha256":{etag},"firstArticle":{"reference":"FAI-7"}`}},
			{With: Values{"status": "withdrawn"}},
			{With: Values{"status": "withdrawn", "details": `,"orders":"finish","reinstate":1`}},
		},
	},
	{
		Operation: "get-method-changes", By: Engineer, After: After("put-method-content"),
		Defaults: Values{"number": "1"},
		Query:    "since=1",
		About:    About{versionType, "{methodId}:{number}"},
		Shows:    `{"since":1,"version":1}`,
	},
	{
		Operation: "get-machine-methods", By: Engineer, After: After("put-machine", "put-method-content"),
		Query: "methodId={methodId}",
		About: About{"production-method", "{methodId}"},
		Shows: `{"pollIntervalSeconds":60}`,
		Cases: []Case{
			{Name: "one method", After: []Step{submitted, {Operation: "get-method-content"}, {"update-method-version", release}}},
			{Name: "all methods of a machine", Query: "limit=10", After: []Step{submitted, {Operation: "get-method-content"}, {"update-method-version", release}}},
		},
	},
	{
		Operation: "get-machine-content", By: Engineer, After: After("put-machine", "put-method-content"),
		Defaults: Values{"number": "1"},
		About:    About{versionType, "{methodId}:{number}"},
		Shows:    `{"version":1,"machine":"{code}"}`,
	},
	{
		Operation: "put-method-report", By: Box,
		After: []Step{{Operation: "put-factory"}, {"put-edge", Values{"place": `,"factoryId":"{factoryId}"`}}, {Operation: "put-machine"},
			{"put-machine", Values{"box": `,"edgeId":"{edgeId}"`}}, {Operation: "put-method-content"},
			submitted, {Operation: "get-method-content"}, {"update-method-version", release}, {"get-method-content", Values{"again": ""}}},
		Defaults: Values{"number": "1", "state": "loaded"},
		Body:     `{"version":{number},"contentSha256":{etag},"state":"{state}","order":"PO-1001"}`,
		About:    About{"method-on-machine", "{code}/{methodId}"},
		Cases: []Case{
			{Name: "first"},
			{Name: "the same again", After: []Step{{Operation: "put-method-report"}, {"get-method-content", Values{"again": "again"}}}, Status: http.StatusNoContent},
		},
	},
	{
		Operation: "list-method-machines", By: Engineer,
		// The first machine has the released version; later ones wait for a signature. A method of its own has a version 1,
		// whatever became of the other method's.
		After: []Step{{Operation: "put-machine"}, {"create-production-method", Values{"name": "Pressing for a list"}},
			submitted, {Operation: "get-method-content"}, {"update-method-version", release}},
		Defaults: Values{"number": "1"},
		Query:    "limit=10",
		Cases:    []Case{page("code", "limit=10")},
	},
	{
		Operation: "put-method-confirmation", By: Engineer,
		After: []Step{{Operation: "put-machine"}, {Operation: "put-method-content"}, submitted, {Operation: "get-method-content"},
			{"update-method-version", release}, {"update-method-version", Values{"status": "withdrawn"}}},
		Defaults: Values{"number": "1"},
		Body:     `{"reason":"The program was removed at the machine"}`,
		About:    About{"method-on-machine", "{code}/{methodId}"},
	},
	{
		Operation: "confirm-method-machines", By: Engineer, Status: http.StatusOK,
		After: []Step{{Operation: "put-machine"}, {Operation: "put-method-content"}, submitted, {Operation: "get-method-content"},
			{"update-method-version", release}, {"update-method-version", Values{"status": "withdrawn"}}},
		Defaults: Values{"number": "1"},
		Body:     `{"machines":["{code}"],"reason":"The program was removed at the machine"}`,
		About:    About{"method-on-machine", "{code}/{methodId}"},
	},
}

// versionType is the type of versions of methods in the audit trail.
const versionType = "production-method-version"

// submitted is the submission of a version by a person who does not approve it, and release its release. The
// content's entity tag is its hash in quotes.
var (
	submitted = Step{"update-method-version", Values{"signer": "otto"}}
	release   = Values{"status": "released", "details": `,"contentSha256":{etag}`}
)
