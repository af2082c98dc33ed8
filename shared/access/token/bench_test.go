package token_test

import (
	"testing"

	"wavegate/shared/testing/tokentest"
)

// BenchmarkVerify measures the cost of one token, by algorithm, with the keys in memory.
func BenchmarkVerify(b *testing.B) {
	w := tokentest.NewWorld(noon)
	v := verifierOf(b, w.Setting, noon)
	for _, key := range []tokentest.Key{w.PeopleES256, w.PeopleRS256, w.PeopleEdDSA} {
		raw := w.Person().By(key).Sign()
		b.Run(key.Method.Alg(), func(b *testing.B) {
			for b.Loop() {
				if _, err := v.Verify(b.Context(), raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
