package export_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/export"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	_ "wavegate/shared/testing/raced" // few cases under the race detector
	"wavegate/shared/trail/audit"
)

// A shelf is what a test stores for one organization. Each item has its own mark.
type shelf struct {
	t            *rapid.T
	ctx          context.Context
	db           *dynamo.DB
	organization string
	marks        []string // of what an export must contain
	ids          []string // of boxes, factories and methods
	content      int      // bytes of a method's content
}

func newShelf(ctx context.Context, t *rapid.T, db *dynamo.DB) *shelf {
	return &shelf{t: t, ctx: admission.Unlimited(ctx), db: db, organization: uuid.NewString(), content: rapid.SampledFrom([]int{1, 200_000}).Draw(t, "content")}
}

// put stores an item and marks it.
func (s *shelf) put(table dynamo.TableID, item map[string]any) {
	mark := s.organization + " " + uuid.NewString()
	item["mark"] = mark
	s.marks = append(s.marks, mark)
	if err := s.db.Commit(s.ctx, dynamo.TransactNew("item", table, item, dynamo.Condition{})); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) some(what string, most int, make func(i int)) {
	for i := range rapid.IntRange(0, most).Draw(s.t, what) {
		make(i)
	}
}

// fill stores a random number of everything.
func (s *shelf) fill() {
	s.put(dynamo.Gateways, map[string]any{"organizationId": s.organization})
	s.some("boxes", 6, s.box)
	s.some("enrolments", 3, s.enrolment)
	s.some("factories", 3, s.factory)
	s.some("events", 20, func(int) {
		stream := rapid.SampledFrom(audit.Shared()).Draw(s.t, "stream")
		s.event(stream, audit.OfOrganization(stream, s.organization))
	})
}

func (s *shelf) event(stream, shared string) {
	e := map[string]any{"stream": stream, "position": "2026-03-01T12:00:00.000Z#" + uuid.NewString(), "streamResource": "-", "streamActor": "-", "streamResourceActor": "-"}
	if shared != "" {
		e["streamOrganization"] = shared
	}
	s.put(dynamo.Audit, e)
}

func (s *shelf) box(int) {
	id := uuid.NewString()
	s.ids = append(s.ids, id)
	s.put(dynamo.Edges, map[string]any{"edgeId": id, "organizationId": s.organization, "pair": "p"})
	switch rapid.IntRange(0, 2).Draw(s.t, "report") {
	case 1:
		s.put(dynamo.Reports, map[string]any{"edgeId": id, "organizationId": s.organization, "subject": "user#" + id, "shard": "s", "stateKey": "k"})
	case 2: // of the last owner of the box
		kept := s.marks
		s.put(dynamo.Reports, map[string]any{"edgeId": id, "organizationId": "another", "subject": "user#" + id, "shard": "s", "stateKey": "k"})
		s.marks = kept
	}
}

func (s *shelf) enrolment(int) {
	id := uuid.NewString()
	s.put(dynamo.Enrolments, map[string]any{"id": id, "part": "enrolment", "organizationId": s.organization, "listKey": "2026 " + id})
	s.put(dynamo.Enrolments, map[string]any{"id": id, "part": "ids"})
	s.some("waiting", 5, func(int) {
		hash := rapid.StringMatching(`[0-9a-f]{64}`).Draw(s.t, "hash")
		s.put(dynamo.Enrolments, map[string]any{"id": id, "part": fmt.Sprintf("waiting/box-%d/%s", rapid.IntRange(0, 9).Draw(s.t, "box"), hash), "tokenSha256": hash})
	})
}

func (s *shelf) factory(int) {
	factory := uuid.NewString()
	s.ids = append(s.ids, factory)
	s.put(dynamo.Factories, map[string]any{"factoryId": factory, "organizationId": s.organization})
	s.some("machines", 5, func(i int) {
		s.put(dynamo.Machines, map[string]any{"factoryId": factory, "code": fmt.Sprint("press-", i)})
	})
	s.some("methods", 3, func(int) {
		method := uuid.NewString()
		s.ids = append(s.ids, method)
		s.put(dynamo.Methods, map[string]any{"factoryId": factory, "methodId": method, "productMethod": method})
		s.some("versions", 3, func(i int) {
			s.put(dynamo.MethodVersions, map[string]any{"methodId": method, "number": fmt.Sprintf("%010d", i)})
		})
		s.some("contents", 5, func(i int) {
			s.put(dynamo.MethodContents, map[string]any{"methodId": method, "sha256": fmt.Sprint("hash-", i), "bytes": strings.Repeat(`"`, s.content)})
		})
		s.some("reports", 3, func(i int) {
			s.put(dynamo.MethodReports, map[string]any{"methodId": method, "machine": fmt.Sprint("press-", i)})
		})
	})
	s.some("recalls", 3, func(i int) {
		s.put(dynamo.Progress, map[string]any{"subject": "recalls", "part": fmt.Sprint(factory, "/method/", i), "organizationId": s.organization})
	})
	s.some("factory events", 5, func(int) { s.event(audit.Factory(factory), "") })
}

// marksOf are the marks in the lines of a page.
func marksOf(t *rapid.T, lines []byte) (marks []string) {
	for line := range strings.Lines(string(lines)) {
		var one struct{ Value struct{ Mark string } }
		err := json.Unmarshal([]byte(line), &one)
		expect.Must(t, err == nil, "%v: %.100s", err, line)
		marks = append(marks, one.Value.Mark)
	}
	return marks
}

// walk reads an export to its end, in pages of random sizes. between runs after each page.
func (s *shelf) walk(between func()) (marks []string) {
	exporter, position := export.New(s.db), ""
	for {
		limit := rapid.IntRange(1, 30).Draw(s.t, "limit")
		page, err := exporter.Read(s.ctx, s.organization, position, limit)
		if err != nil {
			s.t.Fatal(err)
		}
		got := marksOf(s.t, page.Lines)
		if len(got) > limit || len(page.Lines) > 3<<20 || len(page.Position) > 256 {
			s.t.Fatalf("a page of %d lines and %d bytes with limit %d, and a position of %d bytes", len(got), len(page.Lines), limit, len(page.Position))
		}
		marks = append(marks, got...)
		if page.Position == "" {
			return marks
		}
		if !export.IsPosition(page.Position) {
			s.t.Fatalf("%q is not a position", page.Position)
		}
		position = page.Position
		between()
	}
}

func TestRead_PagesOfAnySize_HaveEveryItemOnce(t *testing.T) {
	db := dynamo.Open(dynamotest.Embedded(t), time.Now)
	dynamotest.Check(t, func(r *rapid.T) {
		s, other := newShelf(t.Context(), r, db), newShelf(t.Context(), r, db)
		s.fill()
		other.fill()
		got, want := s.walk(func() {}), slices.Clone(s.marks)
		slices.Sort(got)
		slices.Sort(want)
		expect.That(r, slices.Equal(got, want), "%d items are exported, %d are stored", len(got), len(want))
	})
}

func TestRead_WhileItemsAreAdded_HasWhatWasThereOnce(t *testing.T) {
	db := dynamo.Open(dynamotest.Embedded(t), time.Now)
	dynamotest.Check(t, func(r *rapid.T) {
		s := newShelf(t.Context(), r, db)
		s.fill()
		before := slices.Clone(s.marks)
		s.content = 1 // what is added is many
		added := 0
		got := s.walk(func() {
			if added++; added < 20 {
				s.box(0)
				s.enrolment(0)
				s.factory(0)
			}
		})
		times := map[string]int{}
		for _, mark := range got {
			times[mark]++
			expect.That(r, times[mark] <= 1, "%s is exported twice", mark)
		}
		for _, mark := range before {
			expect.That(r, times[mark] != 0, "%s was there all the time, and is not exported", mark)
		}
	})
}

// Anyone can make a cursor of any position.
func TestRead_MadeUpPosition_ShowsNothingOfOthers(t *testing.T) {
	db := dynamo.Open(dynamotest.Embedded(t), time.Now)
	dynamotest.Check(t, func(r *rapid.T) {
		s, other := newShelf(t.Context(), r, db), newShelf(t.Context(), r, db)
		s.fill()
		other.fill()
		other.factory(0)
		key := rapid.OneOf(rapid.SampledFrom(slices.Concat(other.ids, s.ids, []string{"", ".", "~", other.organization})), rapid.String())
		position := [][]any{}
		for range rapid.IntRange(1, 4).Draw(r, "depth") {
			position = append(position, []any{rapid.IntRange(0, 30).Draw(r, "source"), key.Draw(r, "key")})
		}
		text := expect.Value(json.Marshal(position))(r)
		for position := string(text); position != "" && export.IsPosition(position); {
			page, err := export.New(db).Read(t.Context(), s.organization, position, 50)
			expect.Must(r, err == nil, "%s: %v", position, err)
			expect.Must(r, !strings.Contains(string(page.Lines), other.organization),
				"%s shows %s", position, page.Lines)
			position = page.Position
		}
	})
}

func FuzzIsPosition(f *testing.F) {
	for _, seed := range []string{`[[4,"box-1"],[0,"."]]`, `[]`, `[[-1,""]]`, `[[1]]`, `[["a","b","c"]]`, `null`, `[null]`, `[[1,null]]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !export.IsPosition(text) {
			return
		}
		var marks [][]any
		expect.Must(t, json.Unmarshal([]byte(text), &marks) == nil && len(marks) != 0, "%q is a position", text)
	})
}
