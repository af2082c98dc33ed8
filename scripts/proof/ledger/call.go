package ledger

import (
	"encoding/json"
	"strings"
	"time"
)

// A Call is one call of the API and its answer.
type Call struct {
	Operation string
	Parameter map[string]string // of the path
	Path      string
	Body      []byte
	Key       string // Idempotency-Key

	Issuer, User, Organization string
	ReadsAll                   bool // the caller is a platform owner
	Member                     bool // the caller may read what the organization owns

	Began, Ended time.Time
	Status       int // 0: no answer
	RequestID    string
	Location     string
	Answer       []byte
}

// done tells whether the call was acknowledged.
func (c Call) done() bool { return c.Status >= 200 && c.Status < 300 }

// unknown tells whether the answer, if there was one, leaves open what became of the call.
func (c Call) unknown() bool { return c.Status == 0 || c.Status >= 500 }

// removes tells whether the call asks that a thing be no more.
func (c Call) removes() bool { return strings.HasPrefix(c.Operation, "delete-") }

// fields are the members of the call's body; nil where it is no object.
func (c Call) fields() Item {
	var m Item
	if json.Unmarshal(c.Body, &m) != nil {
		return nil
	}
	return m
}

// answered is the answer's body.
func (c Call) answered() Item {
	var m Item
	if json.Unmarshal(c.Answer, &m) != nil {
		return nil
	}
	return m
}

// A subject is what the calls of an operation are about.
type subject struct {
	kind  string
	id    func(Call) string
	write bool
}

func parameter(name string) func(Call) string {
	return func(c Call) string { return c.Parameter[name] }
}

func channelOf(c Call) string { return c.Parameter["edgeType"] + "/" + c.Parameter["channel"] }

// holder is who a limit is arranged for: a user of the caller's own issuer, or an organization.
func holder(c Call) string {
	if c.Parameter["kind"] == "users" {
		return "users/" + c.Issuer + " " + c.Parameter["id"]
	}
	return c.Parameter["kind"] + "/" + c.Parameter["id"]
}

// located is the thing that a POST made; empty where the call does not tell.
func located(c Call) string { return c.Location[strings.LastIndex(c.Location, "/")+1:] }

// subjects gives what each operation on one thing is about. Lists are in listed.
var subjects = map[string]subject{
	"publish-release":          {"release-channel", channelOf, true},
	"get-release-channel":      {"release-channel", channelOf, false},
	"start-rollout":            {"rollout", located, true},
	"update-rollout":           {"rollout", parameter("id"), true},
	"get-rollout":              {"rollout", parameter("id"), false},
	"put-factory":              {"factory", parameter("factoryId"), true},
	"get-factory":              {"factory", parameter("factoryId"), false},
	"create-production-method": {"production-method", located, true},
	"get-production-method":    {"production-method", parameter("methodId"), false},
	"put-machine":              {"machine", parameter("code"), true},
	"get-machine":              {"machine", parameter("code"), false},
	"put-edge":                 {"edge", parameter("edgeId"), true},
	"get-edge":                 {"edge", parameter("edgeId"), false},
	"put-rate-limit":           {"rate-limit", holder, true},
	"delete-rate-limit":        {"rate-limit", holder, true},
	"get-rate-limit":           {"rate-limit", holder, false},
}

// Audited tells whether the books explain the answers of an operation that writes.
func Audited(operation string) bool { return subjects[operation].write }

// listed gives the type and the name of the id of what an operation lists.
var listed = map[string]struct{ kind, id string }{
	"list-release-channels":   {"release-channel", ""},
	"list-rollouts":           {"rollout", "id"},
	"list-factories":          {"factory", "factoryId"},
	"list-production-methods": {"production-method", "methodId"},
	"list-machines":           {"machine", "code"},
	"list-edges":              {"edge", "edgeId"},
}

// resource is what the call is about.
func (c Call) resource() Resource {
	s := subjects[c.Operation]
	return c.of(s.kind, s.id(c))
}

func (c Call) of(kind, id string) Resource {
	r := Resource{"platform", kind, id}
	if kind == "production-method" || kind == "machine" {
		r.Stream = "factory/" + c.Parameter["factoryId"]
	}
	if kind == "edge" {
		r.Stream = boxStream(id)
	}
	return r
}
