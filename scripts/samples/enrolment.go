package samples

import (
	"net/http"

	"wavegate/shared/access/auth"
)

// Newcomer is a box with the code of its enrolment.
var Newcomer = Caller{"{enrolmentCode}", "", auth.Enrolment}

// newcomer is the body that a box sends about itself.
const newcomer = `{"edgeId":"{redeemer}","tokenSha256":"{tokenSha256}"}`

// stranger is a box with an id that is not listed.
var stranger = Values{"redeemer": "{newcomer}-b"}

var enrolments = []Sample{
	{
		Operation: "create-edge-enrolment", By: Admin, Makes: "enrolmentId", Told: [2]string{"code", "enrolmentCode"},
		Body:  `{"edgeType":"{edgeType}","channel":"{channel}","organizationId":"{organization}","edgeIds":["{newcomer}"],"expiresAt":"{soon}"}`,
		About: About{"enrolment", "{id}"},
		Cases: []Case{{Name: "1 box"}},
	},
	{
		Operation: "list-edge-enrolments", By: Admin, After: After("create-edge-enrolment"),
		Query: "organizationId={organization}",
		About: About{"enrolment", "{id}"},
		Cases: []Case{page("newcomer", "organizationId={organization}&limit=10")},
	},
	{
		Operation: "get-edge-enrolment", By: Admin, After: After("create-edge-enrolment"),
		About: About{"enrolment", "{enrolmentId}"},
		Shows: `{"edgeIds":["{newcomer}"]}`,
	},
	{
		Operation: "redeem-edge-enrolment", By: Newcomer, After: After("create-edge-enrolment"),
		Defaults: with(tokenHash, Values{"redeemer": "{newcomer}"}), Body: newcomer,
		About: About{"edge", "{edgeId}"},
		Cases: []Case{
			{Name: "new"},
			{Name: "again", After: After("redeem-edge-enrolment")},
			{Name: "waits", With: stranger, Status: http.StatusAccepted},
		},
	},
	{
		Operation: "accept-edge-enrolment", By: Admin,
		After:    []Step{{"create-edge-enrolment", nil}, {"redeem-edge-enrolment", stranger}},
		Defaults: with(tokenHash, stranger),
		Body:     `{"items":[{"edgeId":"{redeemer}","tokenSha256":"{tokenSha256}"}]}`,
		About:    About{"enrolment", "{enrolmentId}"},
	},
	{
		Operation: "reset-edge-enrolment", By: Admin, After: After("redeem-edge-enrolment"),
		Own:   Values{"edgeId": "{newcomer}"},
		About: About{"edge", "{edgeId}"},
	},
	{
		Operation: "delete-edge-enrolment", By: Admin, After: After("create-edge-enrolment"),
		About: About{"enrolment", "{enrolmentId}"},
	},
}
