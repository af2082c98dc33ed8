//go:build full

package operations_test

import "testing"

func TestIdempotencyKey_EightRetriesAtOnce_InFiveHundredRounds_AllGetTheResultOfOne(t *testing.T) {
	eightAtOnce(t, 500)
}
