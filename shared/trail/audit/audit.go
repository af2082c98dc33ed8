// Package audit keeps the trail of every change: who changed what, from what to what, and when. An
// event is written in the transaction of its change, so there is no change without its event and no
// event without its change. Events are only ever added.
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

// An Actor is who made a change.
type Actor struct {
	Issuer string      `json:"issuer"`
	UserID string      `json:"userId"`
	Roles  []auth.Role `json:"roles"`
}

// An Origin is where a change came from: the actor, their address, the request and their grounds.
type Origin struct {
	Actor     Actor
	SourceIP  string
	RequestID string
	Grounds
}

// For is the origin with the grounds of a change.
func (o Origin) For(g Grounds) Origin {
	o.Grounds = g
	return o
}

// A Resource is what was changed. Revision is the one that the change led to.
type Resource struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	Revision int64  `json:"revision"`
}

// An Event is one change of one resource. Before is absent when the resource was created, After when
// it was removed; both are the resource as its read shows it. Per resource, the events chain: each
// Before is the previous After, and revisions count up by one.
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
}

// Platform is the stream of what happens to channels, rollouts, factories and limits.
const Platform = "platform"

// Boxes are the resources that have streams of their own: a million registrations would otherwise hold back
// the transaction that halts a rollout, since a partition takes about a thousand writes a second.
const Boxes = "edge"

// boxShards is the number of streams of boxes. Events never move, so it never changes.
const boxShards = 16

// Box is the stream of a box: all events of one box are in one.
func Box(id string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return boxStream(h.Sum32() % boxShards)
}

func boxStream(shard uint32) string { return Boxes + "s/" + strconv.FormatUint(uint64(shard), 10) }

// Factory is the stream of what happens inside a factory.
func Factory(factoryID string) string { return "factory/" + factoryID }

// A Record is an event in its stream. Position orders a stream: by time, then by id. The other keys
// are those of the filters.
type Record struct {
	Stream              string `json:"stream"`
	Position            string `json:"position"`
	StreamResource      string `json:"streamResource"`
	StreamActor         string `json:"streamActor"`
	StreamResourceActor string `json:"streamResourceActor"`
	Event
}

func record(stream string, e Event) Record {
	return Record{
		Stream: stream, Position: Position(e), Event: e,
		StreamResource:      key(stream, e.Resource.Type, e.Resource.ID),
		StreamActor:         key(stream, e.Actor.Issuer, e.Actor.UserID),
		StreamResourceActor: key(stream, e.Resource.Type, e.Resource.ID, e.Actor.Issuer, e.Actor.UserID),
	}
}

// key joins the parts of an index key. None of them can hold a line break.
func key(parts ...string) string { return strings.Join(parts, "\n") }

// TimeFormat gives every event time the same width, so that positions sort as times do.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// PartName is the name of the event's part in a transaction.
const PartName = "audit"

// Write is the write of an event into a stream; an empty one is the platform's. It gives the event its
// id. It fails when there already is an event in its place, so that no event can ever be overwritten.
func Write(stream string, e Event) dynamo.Part {
	e.EventID = uuid.Must(uuid.NewV7()).String()
	return dynamo.PutPart(PartName, dynamo.Audit, record(cmp.Or(stream, Platform), e), dynamo.Absent("position"))
}
