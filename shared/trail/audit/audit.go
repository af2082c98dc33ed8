// Package audit keeps the trail of every change: who changed what, when, and the states before
// and after. An event and its change are written in one transaction, so neither exists without
// the other. Events are only added.
package audit

import (
	"cmp"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
)

// An Actor is the user who made a change.
type Actor struct {
	Issuer string      `json:"issuer"`
	UserID string      `json:"userId"`
	Roles  []auth.Role `json:"roles"`
}

// A Person is a user of an issuer.
type Person struct {
	Issuer string `json:"issuer" stored:"identity"`
	UserID string `json:"userId" stored:"identity"`
}

// Person is who the actor is, whatever their roles.
func (a Actor) Person() Person { return Person{a.Issuer, a.UserID} }

// An Origin is the origin of a change: the actor, their address, the request and their grounds.
type Origin struct {
	Actor     Actor
	SourceIP  string
	RequestID string
	Grounds
}

// For returns the origin with the grounds of a change.
func (o Origin) For(g Grounds) Origin {
	o.Grounds = g
	return o
}

// A Resource is the resource that changed. Revision is its revision after the change.
type Resource struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	Revision int64  `json:"revision"`
}

// An Event is one change to one resource. Before is missing if the change created the resource,
// and After if it removed it. Both show the resource as its read operation does. The events of a
// resource form a chain: each Before is the previous After, and revisions increase by one.
type Event struct {
	EventID        string    `json:"eventId"` // UUID, version 7
	EventTime      time.Time `json:"eventTime"`
	EventName      string    `json:"eventName"` // for example RolloutPromoted
	OrganizationID string    `json:"organizationId,omitempty"`
	Actor          Actor     `json:"actor"`
	SourceIP       string    `json:"sourceIp"`
	RequestID      string    `json:"requestId"`
	Resource       Resource  `json:"resource"`
	Grounds
	Before any `json:"before,omitempty"`
	After  any `json:"after,omitempty"`
	// Salts are the salts of the event's personal values, by their JSON Pointers (RFC 6901). Only
	// events that a chain of hashes covers have them; see package chain.
	Salts map[string]string `json:"salts,omitempty"`
}

// Platform is the stream of channels, rollouts, factories and limits.
const Platform = "platform"

// Boxes is the resource type of boxes, which have their own streams. A partition takes about a
// thousand writes a second. In a shared stream, a million registrations would delay the
// transaction that halts a rollout.
const Boxes = "edge"

// boxShards is the number of streams of boxes. It must never change, because events never move.
const boxShards = 16

// Box returns the stream of a box, which has all events of that box.
func Box(id string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return boxStream(h.Sum32() % boxShards)
}

func boxStream(shard uint32) string { return Boxes + "s/" + strconv.FormatUint(uint64(shard), 10) }

// Shared lists the streams with events of several organizations.
func Shared() []string {
	streams := []string{Platform}
	for shard := range uint32(boxShards) {
		streams = append(streams, boxStream(shard))
	}
	return streams
}

// OfOrganization is the key of an organization's events of a shared stream, in the index byOrganization.
func OfOrganization(stream, organizationID string) string { return key(stream, organizationID) }

// Factory returns the stream of a factory's machines and production methods.
func Factory(factoryID string) string { return inFactory + factoryID }

const inFactory = "factory/"

// A Record is an event in its stream. Position orders a stream by time, then by id. The other
// keys are for the filters.
type Record struct {
	Stream              string `json:"stream"`
	Position            string `json:"position"`
	StreamResource      string `json:"streamResource"`
	StreamActor         string `json:"streamActor"`
	StreamResourceActor string `json:"streamResourceActor"`
	// StreamOrganization is missing in the streams of factories, each of which is one organization's.
	StreamOrganization string `json:"streamOrganization,omitempty"`
	// Why and Override are for the event bus, whose pipe needs fields that are always present.
	Why      string `json:"why"`
	Override string `json:"override"` // yes or no
	Event
}

// RecordOf is an event as a stream keeps it.
func RecordOf(stream string, e Event) Record {
	r := Record{
		Stream: stream, Position: Position(e), Event: e,
		StreamResource:      key(stream, e.Resource.Type, e.Resource.ID),
		StreamActor:         key(stream, e.Actor.Issuer, e.Actor.UserID),
		StreamResourceActor: key(stream, e.Resource.Type, e.Resource.ID, e.Actor.Issuer, e.Actor.UserID),
		Why:                 Why(stream, e.Grounds), Override: Overrides(e.Grounds),
	}
	if e.OrganizationID != "" && !strings.HasPrefix(stream, inFactory) {
		r.StreamOrganization = OfOrganization(stream, e.OrganizationID)
	}
	return r
}

// key joins the parts of an index key. No part can contain a line break.
func key(parts ...string) string { return strings.Join(parts, "\n") }

// timeFormat gives all event times the same length, so that positions sort like times.
const timeFormat = "2006-01-02T15:04:05.000Z"

// PartName is the name of the event's part in a transaction.
const PartName = "audit"

// Write returns the write of an event into a stream; an empty stream means the platform's. It
// sets the event's id. The write fails if an event with this position exists, so it can never
// overwrite one.
func Write(stream string, e Event) dynamo.TransactItem {
	e.EventID = uuid.Must(uuid.NewV7()).String()
	return dynamo.TransactNew(PartName, dynamo.Audit, RecordOf(cmp.Or(stream, Platform), e), dynamo.Absent("position"))
}
