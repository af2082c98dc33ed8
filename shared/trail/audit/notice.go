package audit

import (
	"strconv"

	"wavegate/shared/platform/timestamp"
)

// A Notice is an event as the event bus carries it: what happened to what, who did it, and why. It omits the states and
// the origin of a change. Only the trail shows those, to fewer people.
type Notice struct {
	EventID   string      `json:"eventId"`
	EventTime string      `json:"eventTime"`
	EventName string      `json:"eventName"`
	Actor     NoticeActor `json:"actor"`
	RequestID string      `json:"requestId"`
	Why       string      `json:"why"`
	Override  string      `json:"override"`
	Resource  struct {
		Type string `json:"type"`
		ID   string `json:"id"`
		// Revision is a string, as numbers are in the table's stream.
		Revision string `json:"revision"`
	} `json:"resource"`
}

// A NoticeActor is who made a change, without their roles.
type NoticeActor struct {
	Issuer string `json:"issuer"`
	UserID string `json:"userId"`
}

// Notice is what the event bus carries about an event.
func (e Record) Notice() Notice {
	n := Notice{
		EventID: e.EventID, EventTime: timestamp.Text(e.EventTime), EventName: e.EventName,
		Actor: NoticeActor{e.Actor.Issuer, e.Actor.UserID}, RequestID: e.RequestID,
		Why: e.Why, Override: e.Override,
	}
	n.Resource.Type, n.Resource.ID, n.Resource.Revision = e.Resource.Type, e.Resource.ID, strconv.FormatInt(e.Resource.Revision, 10)
	return n
}

// NoticeSource is the source of a stage's events on an event bus.
func NoticeSource(stage string) string { return "wavegate." + stage }
