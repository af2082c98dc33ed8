package audit

import (
	"strconv"

	"wavegate/shared/platform/timestamp"
)

// A Notice is an event as the event bus carries it: what happened to what, who did it, and why. It leaves out what a
// change held and where it came from, which only the trail tells, and to fewer people.
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
		// Revision is in digits, as the table's stream has numbers.
		Revision string `json:"revision"`
	} `json:"resource"`
}

// A NoticeActor is who made a change, without their roles.
type NoticeActor struct {
	Issuer string `json:"issuer"`
	UserID string `json:"userId"`
}

// Notice is what the event bus carries of an event.
func (e Record) Notice() Notice {
	n := Notice{
		EventID: e.EventID, EventTime: timestamp.Text(e.EventTime), EventName: e.EventName,
		Actor: NoticeActor{e.Actor.Issuer, e.Actor.UserID}, RequestID: e.RequestID,
		Why: e.Why, Override: e.Override,
	}
	n.Resource.Type, n.Resource.ID, n.Resource.Revision = e.Resource.Type, e.Resource.ID, strconv.FormatInt(e.Resource.Revision, 10)
	return n
}

// NoticeSource is what names the service of a stage on an event bus.
func NoticeSource(stage string) string { return "wavegate." + stage }
