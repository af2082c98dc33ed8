package release

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// pieces cuts components into pieces.
func pieces(n Named, sbom string, all []Component) (list []Piece) {
	for some := range slices.Chunk(all, PieceSize) {
		list = append(list, Piece{n, len(list) + 1, sbom, len(all), some})
	}
	return list
}

// TestContaining_AnswersOnlyFromWholeSBOMs: pieces of two SBOMs of several releases come in any order, again and mixed, and documents
// are replaced meanwhile. A search, page by page, finds exactly what the SBOMs say that are whole and still a document.
func TestContaining_AnswersOnlyFromWholeSBOMs(t *testing.T) {
	client := dynamotest.Embedded(t)
	ctx, db, world := admission.Unlimited(t.Context()), dynamo.Open(client, time.Now), 0
	store := NewStore(db)
	dynamotest.Check(t, func(t *rapid.T) {
		world++
		name := func(i int) string { return fmt.Sprintf("pkg:generic/w%d-%d", world, i) }
		sums := []string{strings.Repeat("a", 64), strings.Repeat("b", 64)}
		contents := [][]Component{nil, nil}
		for i := range contents {
			for j := range rapid.IntRange(1, 1100).Draw(t, "components") {
				contents[i] = append(contents[i], Component{name(j % 60), fmt.Sprintf("%d.%d", i, j)})
			}
		}
		said, sent := map[Named]Said{}, map[Named]map[int]bool{}
		for range rapid.IntRange(1, 25).Draw(t, "moves") {
			n := Named{fmt.Sprintf("w%d", world), rapid.SampledFrom([]string{"1.0", "1.0.1", "2"}).Draw(t, "version")}
			which := rapid.IntRange(0, 1).Draw(t, "sbom")
			was := said[n]
			if was.Revision == 0 || rapid.IntRange(0, 9).Draw(t, "replace") == 0 {
				list := Documents{{Kind: "sbom", SHA256: sums[which]}}
				if rapid.Bool().Draw(t, "both") {
					list = append(list, Document{Kind: "sbom", SHA256: sums[1-which]})
				}
				next, event, err := was.After(n, SaidWish{Documents: list}, time.Now())
				expect.OK(t, err)
				if event != "" {
					if next.Contents == nil {
						sent[n] = nil
					}
					expect.OK(t, db.Commit(ctx, dynamo.TransactPut("said", dynamo.Releases, was, next, dynamo.Condition{})))
					said[n] = next
				}
				continue
			}
			p := rapid.SampledFrom(pieces(n, sums[which], contents[which])).Draw(t, "piece")
			next, event, err := was.Holding(p, time.Now())
			if !was.Documents.list(p.SBOM) {
				expect.Must(t, err != nil, "a piece of no document is taken")
				continue
			}
			expect.OK(t, err)
			if c := was.Contents; c == nil || c.SBOM != p.SBOM || sent[n] == nil {
				sent[n] = map[int]bool{}
			}
			expect.Equal(t, event == "", sent[n][p.Number], "an event of piece %d", p.Number)
			sent[n][p.Number] = true
			if event != "" {
				parts := append(Shelve(p), dynamo.TransactPut("said", dynamo.Releases, was, next, dynamo.Condition{}))
				expect.OK(t, db.Commit(ctx, parts...))
				said[n] = next
			}
			expect.Equal(t, next.Contents.Incomplete, len(sent[n]) < (p.Total+PieceSize-1)/PieceSize, "incomplete")
		}
		one := name(rapid.IntRange(0, 59).Draw(t, "name"))
		var want, got []string
		for n, is := range said {
			if sum, whole := is.known(); whole {
				for _, c := range contents[slices.Index(sums, sum)] {
					if c.Name == one {
						want = append(want, n.Version+" "+c.Version)
					}
				}
			}
		}
		w := dynamo.Span{Limit: rapid.IntRange(1, 20).Draw(t, "limit")}
		for more := true; more; {
			page := expect.Value(store.Containing(ctx, one, w))(t)
			expect.Must(t, len(page.Items) <= w.Limit, "a page has %d items", len(page.Items))
			for _, c := range page.Items {
				got = append(got, c.Version+" "+c.ComponentVersion)
			}
			w.After, more = page.Last, page.More
		}
		slices.Sort(want)
		expect.Equal(t, strings.Join(slices.Sorted(slices.Values(got)), ", "), strings.Join(want, ", "), "what is found of %s", one)
	})
}

// TestShelve_FitsOneTransaction_AndIsEven: also with the revision and the event beside it.
func TestShelve_FitsOneTransaction_AndIsEven(t *testing.T) {
	counts := map[string]int{}
	for i := range PieceSize {
		counts[shelfOf(fmt.Sprintf("pkg:deb/debian/lib%d", i))]++
	}
	expect.Must(t, len(Shelve(Piece{}))+2 <= 100, "a piece has %d parts", len(Shelve(Piece{})))
	expect.Must(t, slices.Max(slices.Collect(maps.Values(counts))) < 32, "a shelf has %d of 500 names", slices.Max(slices.Collect(maps.Values(counts))))
}

func TestPiece_AllFaultsAreFound(t *testing.T) {
	sum := strings.Repeat("a", 64)
	for body, want := range map[string]string{
		`{"sbom":"` + sum + `","total":1,"components":[{"purl":"pkg:npm/%40a/b","componentVersion":"1:2~3"}]}`: "",
		`{"sbom":"` + sum + `","total":2,"components":[{"purl":"pkg:npm/a"}]}`:                                 "/components length",
		`{"sbom":"` + sum + `","total":5001,"components":[{"purl":"pkg:npm/a"}]}`:                              "/components length, /total range",
		`{"sbom":"x","total":1,"components":[{"purl":"npm/a@1","componentVersion":"a b"}]}`:                    "/sbom format, /components/0/purl format, /components/0/componentVersion format",
		`{}`: "/components required, /sbom required, /total required",
	} {
		var faults []string
		_, found := input.Parse([]byte(body), func(o *input.Object) Piece { return pieceOf(o, Piece{Number: 1}) })
		for _, f := range found {
			faults = append(faults, f.Pointer+" "+f.Code)
		}
		slices.Sort(faults)
		expect.Equal(t, strings.Join(faults, ", "), strings.Join(slices.Sorted(slices.Values(strings.Split(want, ", "))), ", "), "faults of %s", body)
	}
}
