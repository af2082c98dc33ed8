package product

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[Product](t, dynamo.Products, "product")
}
