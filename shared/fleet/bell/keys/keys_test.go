package keys_test

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/bell/keys"
	"wavegate/shared/platform/setting"
)

func TestRead_ASecretOfALocalRun_IsTheOnlyOne_AndIsLongEnough(t *testing.T) {
	for value, fits := range map[string]bool{strings.Repeat("x", bell.LeastSecret): true, strings.Repeat("x", bell.LeastSecret-1): false} {
		t.Setenv("BELL_SECRET", value)
		r := setting.NewValues(bell.KeySettings...)
		k := keys.Read(r, nil, time.Now)
		valid, err := k.Valid(t.Context())
		if (r.Err() == nil) != fits || err != nil || len(valid) != 1 || valid[0] != bell.Secret(value) || k.Missing() {
			t.Errorf("%d characters: %v, %v, %v", len(value), r.Err(), valid, err)
		}
	}
}

func TestRead_NoSecretIsNamed_IsMissing(t *testing.T) {
	if k := keys.Read(setting.NewValues(bell.KeySettings...), nil, time.Now); !k.Missing() {
		t.Error("there is a secret")
	}
}
