package answers

import "wavegate/infra/recovery/ledger"

// steers are the calls whose reason is only in the event.
var steers = []string{"publish-release", "start-rollout", "update-rollout"}

// agrees reports whether a thing has what a call asked for in fields that the trail shows in another form. It removes these
// from the fields.
func (c Call) agrees(fields, thing ledger.Item) bool {
	switch c.Operation {
	case "update-rollout":
		if fields["return"] == true && ledger.Text(thing, "returnedAt") == "" {
			return false
		}
		if fields["seen"] == true && ledger.Object(thing, "seen") == nil {
			return false
		}
		delete(fields, "seen")
		delete(fields, "return")
		delete(fields, "everywhere")
	case "put-edge":
		if pin := ledger.Object(fields, "pin"); pin != nil {
			if ledger.Text(ledger.Object(thing, "pin"), "version") != ledger.Text(pin, "version") {
				return false
			}
			delete(fields, "pin")
		}
		delete(fields, "allowDowngrade")
	case "put-artifact": // the service computes them from the bytes
		delete(fields, "sha1")
		delete(fields, "md5")
	case "publish-release":
		delete(fields, "kind") // of the version
		delete(fields, "deadline")
	case "put-factory":
		for _, name := range []string{"pausedUntil", "optOut"} {
			if ledger.Object(fields, "updates")[name] != nil && ledger.Object(thing, "updates")[name] == nil {
				return false
			}
		}
		delete(fields, "updates")
	case "start-rollout":
		if policy := ledger.Object(fields, "policy"); policy != nil && !within(policy, ledger.Object(ledger.Object(thing, "terms"), "policy")) {
			return false
		}
		delete(fields, "policy")
	}
	return true
}
