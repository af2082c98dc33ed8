package main

import (
	"encoding/json"
	"errors"
	"testing"

	"wavegate/shared/testing/tokentest"
)

// For any event without a valid token, the answer is Deny or Unauthorized, and nothing panics.
func FuzzAuthorize(f *testing.F) {
	w := tokentest.NewWorld(noon)
	f.Add(`{"methodArn":"` + arn + `","multiValueHeaders":{"Authorization":["Bearer a.b.c"]}}`)
	f.Add(`{"methodArn":"arn:::::/","headers":{"authorization":"bearer"}}`)
	f.Add(`{"methodArn":"//","multiValueHeaders":{"Authorization":null}}`)
	f.Add(tokentest.JSON(foreignCall("TargetToken 0123456789abcdef0123456789abcdef", "DEFAULT", "box-1")))
	for _, attack := range w.Attacks()[:20] {
		f.Add(tokentest.JSON(withToken(attack.Token)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var event request
		if json.Unmarshal([]byte(text), &event) != nil {
			return // the runtime refuses it before the function sees it
		}
		h := newHarness(t, w.Setting, atNoon)
		h.foreign = true
		answer, err := h.authorize(t.Context(), event)
		if errors.Is(err, errUnauthorized) {
			mustBeUnauthorized(t, answer, err)
		} else {
			mustDeny(t, answer, err)
		}
		if h.outcome(t) == fault {
			t.Fatalf("panicked: %s", h.log.String())
		}
	})
}
