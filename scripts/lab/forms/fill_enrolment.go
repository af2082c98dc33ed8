package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/golden"
)

// enrol makes an enrolment, and keeps its id and code under a name.
func (w *world) enrol(name, ids, more string, header ...string) {
	w.enrolBy("anna", name, ids, more, header...)
}

func (w *world) enrolBy(by, name, ids, more string, header ...string) {
	a := w.do(created, by, "POST /api/edge-enrolments",
		`{"edgeType":"gateway-d","channel":"stable","organizationId":"acme","edgeIds":[`+ids+`],"expiresAt":"<in a week>"`+more+`}`, header...)
	var made struct{ ID, Code string }
	if w.err == nil {
		w.err = json.Unmarshal(a.Body, &made)
	}
	w.values[name], w.values[name+" code"] = made.ID, "wavegate-enrol:"+made.Code
}

// redeem registers a box with the code of an enrolment.
func (w *world) redeem(name, id string, want int) {
	w.token(boxtoken.Box, id, "token of "+id)
	w.do(want, "token:"+name+" code", "POST /api/edge-enrolments/redemptions", fmt.Sprintf(`{"edgeId":%q,"tokenSha256":"<token of %[1]s sha256>"}`, id))
}

func (w *world) enrolments() {
	w.enrol("enrolment", `"box-41","box-42"`, `,"factoryId":"munich-1"`, "Idempotency-Key", "enrolment")
	w.enrol("closed", `"box-45"`, "")
	w.redeem("enrolment", "box-41", created)
	w.redeem("enrolment", "box-42", created)
	w.do(http.StatusConflict, "token:enrolment code", "POST /api/edge-enrolments/redemptions", `{"edgeId":"box-41","tokenSha256":"`+digest("a clone")+`"}`)
	w.redeem("enrolment", "box-43", http.StatusAccepted)
	w.redeem("enrolment", "box-44", http.StatusAccepted)
	w.do(done, "anna", "POST /api/edge-enrolments/<enrolment>/accept", `{"items":[{"edgeId":"box-43","tokenSha256":"<token of box-43 sha256>"}]}`)
	w.do(done, "anna", "DELETE /api/edge-enrolments/<enrolment>/redemptions/box-42", "")
	w.do(ok, "token:token of box-41", "GET /api/edges/box-41/update/manifest?installed=1.0.0", "")
	w.do(done, "anna", "DELETE /api/edge-enrolments/<closed>", "")
	w.enrol("crowded", `"box-46"`, "")
	w.crowd("crowded")
	w.redeem("crowded", "box-47", http.StatusAccepted)
}

// crowd makes all but one of the boxes wait that may wait with a code. They are written to the store, because the service
// limits calls.
func (w *world) crowd(name string) {
	sum := digest("a made-up token")
	for i := 0; i < enrolment.MostBoxes-1 && w.err == nil; i++ {
		id := fmt.Sprintf("made-up-%04d", i)
		_, w.err = w.DB.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(dynamolocal.TableName(dynamo.Enrolments)),
			Item: golden.Encoded(golden.Plain{"id": w.values[name], "part": "waiting/" + id + "/" + sum, "edgeId": id, "tokenSha256": sum,
				"since": w.values["soon"], "expires": time.Now().Add(time.Hour).Unix(), "network": sum[:16]})})
	}
}

// quotas has an installer register boxes, a platform owner take one over, and the owner raise a limit.
func (w *world) quotas() {
	for _, limit := range []string{"1200", "1300"} {
		w.do(map[string]int{"1200": created, "1300": done}[limit], "olga", "PUT /api/rate-limits/users/eric", `{"limit":`+limit+`,"copilotLimit":60}`)
	}
	w.do(created, "ines", "PUT /api/edges/box-61", onChannel("gateway-x", "stable", ""))
	w.enrolBy("ines", "by an installer", `"box-62"`, "")
	w.redeem("by an installer", "box-62", created)
	w.do(ok, "olga", "POST /api/edges", `{"takeOver":true,"edges":[{"edgeId":"box-61","edgeType":"gateway-x","channel":"stable","organizationId":"rival"}]}`)
}
