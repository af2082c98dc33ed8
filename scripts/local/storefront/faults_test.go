package storefront

import (
	"context"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

func TestEffect_CutAnswer_ReachesTheStoreButGivesNoAnswer(t *testing.T) {
	f := start(t)
	f.Intercept(func(*Call) Effect { return Effect{CutAnswer: true} })
	expect.That(t, putFactory(t.Context(), f.as(AccessKey("writer")), "munich-1") != nil, "half an answer was accepted")
	expect.Equal(t, hasFactory(t, f, "munich-1"), true, "the store was asked:")
}

func TestEffect_Late_ReachesTheStoreAfterTheCallerLeft(t *testing.T) {
	f := start(t)
	ctx, leave := context.WithCancel(t.Context())
	f.Intercept(func(c *Call) Effect {
		if c.Operation != "PutItem" {
			return Effect{}
		}
		leave()
		return Effect{Late: 200 * time.Millisecond}
	})
	expect.Must(t, putFactory(ctx, f.as(AccessKey("writer")), "munich-1") != nil, "the caller did not leave")
	expect.Until(t, "the call arrives", func() bool { return hasFactory(t, f, "munich-1") })
}
