package ledger_test

import (
	"testing"

	"wavegate/scripts/lab/proof/ledger"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
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
		row["code"], row["stateKey"] = string(test.code), "1.1.0#"+string(test.state)+"#1#00#box-1"
		if found := r.books.Audit(); (len(found) > 0) != test.found {
			t.Errorf("%s with the code %q: found %q", test.state, test.code, found)
		}
	}
}
