package answers

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"wavegate/infra/recovery/ledger"
	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations/table"
)

// A Call is one call of the API and its answer.
type Call struct {
	Operation string
	Parameter map[string]string // path parameters
	Path      string
	Body      []byte
	Key       string // Idempotency-Key

	Issuer, User, Organization string
	ReadsAll                   bool // the caller is a platform owner
	Member                     bool // the caller may read what the organization owns

	Began, Ended time.Time
	Status       int // 0 means no answer
	RequestID    string
	Location     string
	Answer       []byte
}

// done reports whether the call was acknowledged.
func (c Call) done() bool { return c.Status >= 200 && c.Status < 300 }

// unknown reports whether the call may have had an effect: it got no answer, or an answer of 5xx.
func (c Call) unknown() bool { return c.Status == 0 || c.Status >= 500 }

// removes reports whether the resource can no longer be read after the call. An enrolment that has ended still can.
func (c Call) removes() bool {
	return strings.HasPrefix(c.Operation, "delete-") && c.Operation != "delete-edge-enrolment" || c.Operation == "reset-edge-enrolment"
}

// fields are the members of the call's body; nil if it is not an object.
func (c Call) fields() ledger.Item {
	var m ledger.Item
	if json.Unmarshal(c.Body, &m) != nil {
		return nil
	}
	return m
}

func (c Call) answered() ledger.Item {
	var m ledger.Item
	if json.Unmarshal(c.Answer, &m) != nil {
		return nil
	}
	return m
}

// about is the resource type of the call's operation; empty if it has none.
func (c Call) about() samples.About { return samples.Of(c.Operation).About }

// writes reports whether the call's method is for changes.
func (c Call) writes() bool { return table.Get(c.Operation).Method != http.MethodGet }

// located is the thing that a POST made; empty if the answer does not name it.
func (c Call) located() string { return c.Location[strings.LastIndex(c.Location, "/")+1:] }

// lost reports whether the call may have made something whose id is not in its answer.
func (c Call) lost() bool { return c.makes() && c.located() == "" }

// makes reports whether the call makes something with an id from the service.
func (c Call) makes() bool { return samples.Of(c.Operation).Makes != "" }

func (c Call) resource() ledger.Resource {
	if c.makes() {
		return c.of(c.about().Type, c.located())
	}
	if c.redeems() {
		return c.of("edge", ledger.Text(c.fields(), "edgeId"))
	}
	return c.of(c.about().Type, c.about().Name(func(name string) string {
		if name == "id" && c.Parameter["kind"] == "users" {
			return auth.User(c.Issuer, c.Parameter["id"]) // an override is for a user of the caller's own issuer
		}
		return c.Parameter[name]
	}))
}

// of returns a resource in the place of the call: in the call's factory if such resources are in
// factories, and a box in its shard.
func (c Call) of(name, id string) ledger.Resource {
	return ledger.Of(name, id, ledger.Item{"factoryId": c.Parameter["factoryId"], "edgeId": id})
}
