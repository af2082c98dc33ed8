package expect_test

import (
	"testing"

	"wavegate/shared/testing/expect"
)

func TestUntil_HoldsLater_IsAskedUntilThen(t *testing.T) {
	asked := 0
	expect.Until(t, "three are asked", func() bool { asked++; return asked == 3 })
	expect.Equal(t, asked, 3, "asked")
}
