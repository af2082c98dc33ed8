package answers_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/infra/recovery/ledger"
	"wavegate/scripts/lab/proof/answers"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// TestAudit_FailureCode checks that a box that failed or fell back has a code. Others may have one: it is what went wrong
// when they ran the version before.
func TestAudit_FailureCode(t *testing.T) {
	for _, test := range []struct {
		state report.State
		code  report.FailureCode
		found bool
	}{
		{report.Failed, report.CodeBoot, false},
		{report.Failed, "", true},
		{report.Reverted, report.CodeReverted, false},
		{report.Reverted, report.CodeHealth, false},
		{report.Reverted, "", true},
		{report.Installed, report.CodeReverted, false},
		{report.Installed, "", false},
		{report.Offered, "", false},
		{report.Installed, "gremlins", true},
	} {
		r := honest(t)
		row := r.item(t, dynamo.Reports, "edgeId", "box-1")
		row["offer"] = ledger.Item{"version": "1.1.0", "state": string(test.state), "code": string(test.code)}
		registered := expect.Value(time.Parse(time.RFC3339Nano, ledger.Text(row, "registeredAt")))(t)
		of := report.Row{EdgeID: "box-1", RegisteredAt: &registered, Offer: &report.Offer{Version: "1.1.0", State: test.state, Code: test.code}}
		row["code"], row["stateKey"] = string(test.code), of.Entry().StateKey()
		if found := r.books.Audit(); (len(found) > 0) != test.found {
			t.Errorf("%s with the code %q: found %q", test.state, test.code, found)
		}
	}
}

// TestExplain_BoxReadsWhatIsInItsFactory_AndInNoOther: a box's token names no organization.
func TestExplain_BoxReadsWhatIsInItsFactory_AndInNoOther(t *testing.T) {
	for factory, foreign := range map[string]bool{"munich-1": false, "rival-1": true, "": true} {
		r := honest(t)
		poll := r.call(t, "get-machine-methods")
		poll.User, poll.Organization, poll.Member = "box-1", "", false
		for _, e := range r.books[dynamo.Audit] {
			if after, _ := e["after"].(ledger.Item); after["edgeId"] == "box-1" {
				after["factoryId"] = factory
			}
		}
		found := slices.ContainsFunc(answers.Explain(r.books, r.calls), func(f string) bool { return strings.Contains(f, `read data of "acme"`) })
		if found != foreign {
			t.Errorf("a box in %q: found %v", factory, answers.Explain(r.books, r.calls))
		}
	}
}
