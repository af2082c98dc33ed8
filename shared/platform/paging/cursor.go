package paging

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/platform/value"
)

// A Cursor is the place in a list that a caller goes on from, as it was sent.
type Cursor struct {
	Limit int
	text  string
	given bool
}

// ByCursor reads limit (1 to 100, default 50) and cursor. The cursor is opened once the rest of the
// query is known to be good.
func ByCursor(in *request.Input) Cursor {
	c := Cursor{Limit: limitOf(in)}
	c.text, c.given = in.Query("cursor", &value.Text{})
	return c
}

// A cursor is base64url, without padding, of a version, a seal and a position. The seal binds the
// position to its query: a cursor of another list, another factory or other filters, one of another
// version and one that was altered do not open. It keeps no secret and need not: the position is a
// place in a list that the path and the caller's rights choose, and no partition key is in it.
const (
	cursorVersion = 1
	sealSize      = 16
	// maxPosition bounds what is decoded, in bytes; positions are far shorter.
	maxPosition = 256
)

var encoding = base64.RawURLEncoding

// seal is the first bytes of SHA-256 over version, query and position.
func (q Query) seal(version byte, position string) []byte {
	// JSON keeps the parts apart. The filters come in the order of their names. Strings do not fail.
	text, _ := json.Marshal([]any{"cursor", version, q.Path, q.Filter.Encode(), position})
	sum := sha256.Sum256(text)
	return sum[:sealSize]
}

// Pack makes the cursor of a position in the query.
func (q Query) Pack(position string) string {
	b := append([]byte{cursorVersion}, q.seal(cursorVersion, position)...)
	return encoding.EncodeToString(append(b, position...))
}

// Position returns the place that the cursor holds, empty when none was sent, or INVALID_CURSOR. valid
// has the last word on the form of a position: anyone can make a cursor.
func (c Cursor) Position(q Query, valid func(string) bool) (string, error) {
	if !c.given {
		return "", nil
	}
	if len(c.text) > encoding.EncodedLen(1+sealSize+maxPosition) {
		return "", badCursor()
	}
	b, err := encoding.DecodeString(c.text)
	// The decoder passes over line breaks and spare bits; encoding again shows them.
	if err != nil || encoding.EncodeToString(b) != c.text || len(b) <= 1+sealSize || b[0] != cursorVersion {
		return "", badCursor()
	}
	position := string(b[1+sealSize:])
	if string(b[1:1+sealSize]) != string(q.seal(b[0], position)) || !valid(position) {
		return "", badCursor()
	}
	return position, nil
}

// badCursor is INVALID_CURSOR. It does not tell what is wrong: whoever follows next never meets it.
func badCursor() error {
	p := problem.New(problem.InvalidCursor, "The cursor does not belong to this query; begin without one, and change nothing in the next that a page gives.")
	p.Faults = []problem.Fault{{Parameter: "cursor", Code: "cursor", Detail: "must be one that a page of this very query gave"}}
	return p
}

// Series answers with a page of a time series; position is an item's place in it.
func Series[T any](c *lambdahttp.Call, q Query, limit int, page dynamo.Page[T], position func(T) string) lambdahttp.Answer {
	b := body[T]{Items: page.Items, Limit: limit}
	if page.More {
		last := page.Items[len(page.Items)-1]
		b.Next = q.href(c, limit, "cursor", q.Pack(position(last)))
	}
	return b.answer()
}
