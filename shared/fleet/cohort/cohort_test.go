package cohort_test

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/testing/expect"
)

//go:embed testdata/vectors.csv
var vectors []byte

// vectorsDigest is the digest of the file as it was published.
const vectorsDigest = "b962c83cc8c90ae39fd11cfa831bcda260338af2f1a0e76fdfafb80d2aa85854"

func TestVectors_AreTheOnesThatWerePublished(t *testing.T) {
	sum := sha256.Sum256(vectors)
	if got := hex.EncodeToString(sum[:]); got != vectorsDigest {
		t.Fatalf("the vectors changed: digest %s, want %s. They must never change: boxes would change cohorts", got, vectorsDigest)
	}
}

func TestOf_AgreesWithEveryVector(t *testing.T) {
	rows := expect.Value(csv.NewReader(bytes.NewReader(vectors)).ReadAll())(t)
	if head := rows[0]; !slices.Equal(head, []string{"edgeType", "version", "edgeId", "bucket", "percentile"}) {
		t.Fatalf("columns %v", head)
	}
	rows = rows[1:]
	expect.Must(t, len(rows) >= 1000, "%d vectors, want at least 1,000", len(rows))
	for _, row := range rows {
		b := cohort.Of(row[0], row[1], row[2])
		if got := strconv.FormatUint(uint64(b), 10); got != row[3] {
			t.Errorf("%s/%s/%s: bucket %s, want %s", row[0], row[1], row[2], got, row[3])
		}
		if got := strconv.Itoa(b.Percentile()); got != row[4] {
			t.Errorf("%s/%s/%s: percentile %s, want %s", row[0], row[1], row[2], got, row[4])
		}
	}
}

func TestIn_RaisingNeverDropsABox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._+:~-]{0,63}`)
		b := cohort.Of(name.Draw(t, "edge type"), name.Draw(t, "version"), name.Draw(t, "edge id"))
		in := false
		for percent := 0; percent <= 100; percent++ {
			now := b.In(percent)
			if in && !now {
				t.Fatalf("bucket %d is in at %d percent and out at %d", b, percent-1, percent)
			}
			in = now
		}
		expect.Must(t, !b.In(0) && b.In(100), "bucket %d: 0 percent is nobody and 100 everyone", b)
	})
}

func TestPercentile_IsExactAtEveryEdge(t *testing.T) {
	exact := func(b uint64) int {
		n := new(big.Int).Mul(new(big.Int).SetUint64(b), big.NewInt(100))
		return int(n.Rsh(n, 64).Int64())
	}
	check := func(t interface{ Errorf(string, ...any) }, b uint64) {
		if got, want := cohort.Bucket(b).Percentile(), exact(b); got != want {
			t.Errorf("bucket %d: percentile %d, want %d", b, got, want)
		}
	}
	for p := range 101 {
		// The smallest bucket of percentile p is the ceiling of p × 2^64 / 100; its neighbors are the edge cases.
		edge := new(big.Int).Lsh(big.NewInt(int64(p)), 64)
		edge.Div(edge, big.NewInt(100))
		for d := range uint64(5) {
			check(t, edge.Uint64()+d-2)
		}
	}
	check(t, math.MaxUint64)
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.Uint64().Draw(t, "bucket")) })
}

func TestAfter_IsTheNextStage(t *testing.T) {
	for percent, next := range map[int]int{0: 1, 1: 10, 9: 10, 10: 50, 50: 100, 99: 100, 100: 0} {
		expect.Equal(t, cohort.After(percent), next, "after %d percent:", percent)
	}
}
