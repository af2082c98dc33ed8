package paging

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
)

// A Cursor is the place in a list at which a page starts, as the caller sent it.
type Cursor struct {
	Limit int
	text  string
	given bool
}

// ByCursor reads limit (1 to 100, default 50) and cursor. The cursor is decoded later, when the
// rest of the query is known to be valid.
func ByCursor(in *input.Reader) Cursor {
	c := Cursor{Limit: in.QueryInteger("limit", limitRule, DefaultLimit)}
	c.text, c.given = in.Query("cursor", anyCursor)
	return c
}

// A cursor is a version, a seal and a position, in base64url without padding. The seal binds the position to its query.
// So a cursor is refused if it was altered, or if it comes from another version, list, factory, filter or organization. It contains
// no secret: the path and the caller's permissions select the list, and the position is only a place in it, without a
// partition key.
const (
	cursorVersion = 1
	sealSize      = 16
	// maxPosition bounds a position, in bytes. Real positions are much shorter.
	maxPosition = 512
)

var encoding = base64.RawURLEncoding

func (q Query) seal(version byte, position string) []byte {
	// JSON keeps the parts apart. The filters are sorted by name. Encoding strings cannot fail.
	parts := []any{"cursor", version, q.Path, q.Filter.Encode(), position}
	if q.Of != "" {
		parts = append(parts, q.Of)
	}
	text, _ := json.Marshal(parts)
	sum := sha256.Sum256(text)
	return sum[:sealSize]
}

// Pack makes the cursor of a position in the query.
func (q Query) Pack(position string) string {
	b := append([]byte{cursorVersion}, q.seal(cursorVersion, position)...)
	return encoding.EncodeToString(append(b, position...))
}

// Position returns the cursor's position, which is empty if none was sent, or INVALID_CURSOR.
// valid checks the form of the position, because anyone can make a cursor.
func (c Cursor) Position(q Query, valid func(string) bool) (string, error) {
	if !c.given {
		return "", nil
	}
	if len(c.text) > encoding.EncodedLen(1+sealSize+maxPosition) {
		return "", badCursor()
	}
	b, err := encoding.DecodeString(c.text)
	// The decoder ignores line breaks and spare bits. Encoding again detects them.
	if err != nil || encoding.EncodeToString(b) != c.text || len(b) <= 1+sealSize || b[0] != cursorVersion {
		return "", badCursor()
	}
	position := string(b[1+sealSize:])
	if string(b[1:1+sealSize]) != string(q.seal(b[0], position)) || !valid(position) {
		return "", badCursor()
	}
	return position, nil
}

// badCursor is INVALID_CURSOR. It does not say what is wrong, because callers that follow next
// never see it.
func badCursor() error {
	p := problem.New(problem.InvalidCursor, "The cursor does not belong to this query. Start without a cursor, and use the next of a page unchanged.")
	p.Faults = []problem.Fault{{Parameter: "cursor", Code: "cursor", Detail: "must come from a page of this query"}}
	return p
}

// Series answers with a page of a time series. position returns an item's position in it. A page that may be partial
// says itself where the next begins.
func Series[T any](c linker, q Query, limit int, page dynamo.Page[T], position func(T) string) lambdahttp.Answer {
	b := body[T]{Items: page.Items, Limit: limit, Partial: page.More && len(page.Items) < limit}
	if page.More {
		last := page.Last
		if last == "" {
			last = position(page.Items[len(page.Items)-1])
		}
		b.Next = q.After(c, limit, last)
	}
	return b.answer()
}
