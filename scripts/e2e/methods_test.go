package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/platform/canonical"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestMethods_EveryStatusAndMove_IsAnsweredAsTheTableSays generates the table of shared/production/README.md from
// calls, and compares it.
func TestMethods_EveryStatusAndMove_IsAnsweredAsTheTableSays(t *testing.T) {
	b := newBench(t)
	reach := map[string]func(){
		"none":      func() {},
		"draft":     func() { b.save(1, smallContent).Is(t, http.StatusCreated) },
		"in_review": func() { b.save(1, smallContent); b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK) },
		"trial": func() {
			b.save(1, smallContent)
			b.move(b.author, 1, "in_review", "")
			b.move(b.approver, 1, "trial", `,"machines":["press-1"]`).Is(t, http.StatusOK)
		},
		"released":  func() { b.release(1, smallContent) },
		"withdrawn": func() { b.release(1, smallContent); b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK) },
	}
	const ist = "409 INVALID_STATE_TRANSITION"
	columns := []string{"save", "in_review", "draft", "trial", "released", "withdrawn"}
	want := map[string][]string{
		"none":      {"201 draft", "404 NOT_FOUND", "404 NOT_FOUND", "404 NOT_FOUND", "404 NOT_FOUND", "404 NOT_FOUND"},
		"draft":     {"204 draft", "200 in_review", "200 same", ist, ist, "200 withdrawn"},
		"in_review": {"409 VERSION_FROZEN", "200 in_review", "200 draft", "200 trial", "200 released", "200 withdrawn"},
		"trial":     {"409 VERSION_FROZEN", ist, ist, "200 trial", "200 released", "200 withdrawn"},
		"released":  {"409 VERSION_FROZEN", ist, ist, ist, "200 released", "200 withdrawn"},
		"withdrawn": {"409 VERSION_FROZEN", ist, ist, ist, ist, "200 withdrawn"},
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| Status | %s |\n|---|---|---|---|---|---|---|\n", strings.Join(columns, " | "))
	for _, from := range []string{"none", "draft", "in_review", "trial", "released", "withdrawn"} {
		var row []string
		for i, column := range columns {
			b.path = b.author.Post(t, methods, method).Is(t, http.StatusCreated).Header.Get("Location")
			reach[from]()
			got := b.told(column, from)
			expect.Equal(t, got, want[from][i], "%s of %s:", column, from)
			row = append(row, got)
		}
		fmt.Fprintf(&table, "| %s | %s |\n", from, strings.Join(row, " | "))
	}
	page := expect.Value(os.ReadFile(filepath.Join("..", "..", "shared", "production", "README.md")))(t)
	expect.That(t, strings.Contains(string(page), "\n"+table.String()+"\n"),
		"shared/production/README.md does not have this table:\n%s", table.String())
}

// told makes a move, and returns its answer and the resulting state of the version.
func (b *bench) told(column, from string) string {
	b.Helper()
	before := b.author.Get(b, b.version(1))
	var a harness.Answer
	switch more := map[string]string{"trial": `,"machines":["press-2"]`, "released": `,"firstArticle":{"reference":"FAI-1"}`}[column]; {
	case column == "save":
		a = b.save(1, another("Press twice"))
	case from == "none":
		a = b.approver.Patch(b, b.version(1), fmt.Sprintf(`{"status":%q,"reason":"test"%s,"contentSha256":%q}`, column, more, digest("a")))
	default:
		a = b.move(b.approver, 1, column, more)
	}
	if a.Status >= http.StatusBadRequest {
		d, err := a.Problem()
		if err != nil {
			b.Fatal(err)
		}
		return fmt.Sprint(a.Status, " ", d.Code)
	}
	after := b.author.Get(b, b.version(1)).Is(b, http.StatusOK)
	if string(after.Body) == string(before.Body) {
		return fmt.Sprint(a.Status, " same")
	}
	return fmt.Sprint(a.Status, " ", after.Object(b)["status"])
}

// TestMethods_RealMethods_ThroughTheirWholeLife takes three real contents from draft to withdrawal.
func TestMethods_RealMethods_ThroughTheirWholeLife(t *testing.T) {
	b := newBench(t)
	for code, class := range map[string]string{
		"anod-tank-1": "", "anod-tank-2": "", "anod-line-1": "anodizing-line", "anod-line-2": "anodizing-line",
		"mill-03": "", "mill-04": "", "saw-1": "band-saw", "washer-1": "parts-washer", "cmm-1": "cmm",
		"placer-1": "", "placer-2": "", "oven-1": "", "oven-2": "", "printer-1": "stencil-printer", "aoi-1": "aoi",
	} {
		if class == "" {
			b.machine(code)
		} else {
			b.machine(code, class)
		}
	}
	for name, cell := range map[string]string{
		"anodizing": `"anod-line-1","anod-tank-1"`, "milling": `"saw-1","mill-03","washer-1","cmm-1"`, "reflow": `"printer-1","placer-1","oven-2","aoi-1"`,
	} {
		on := map[string]string{"anodizing": "anod-tank-1", "milling": "mill-03", "reflow": "oven-2"}[name]
		b.path = b.author.Post(t, methods, method).Is(t, http.StatusCreated).Header.Get("Location")
		text := methodContent(t, name)
		created := b.save(1, text).Is(t, http.StatusCreated)
		expect.That(t, created.Header.Get("Location") == "", "%s: a PUT has a Location", name)
		read := b.author.Get(t, b.version(1)+"/content").Is(t, http.StatusOK)
		expected, err := canonical.JSON([]byte(text))
		expect.That(t, err == nil && string(read.Body) == string(expected),
			"%s: the content is not the canonical form of what was sent", name)
		expect.Equal(t, read.Header.Get("ETag"), `"`+canonical.SHA256(read.Body)+`"`, "%s: the entity tag is", name)
		b.author.Get(t, b.version(1)+"/content", "If-None-Match", read.Header.Get("ETag")).Is(t, http.StatusNotModified)
		b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
		b.move(b.approver, 1, "trial", `,"machines":[`+cell+`]`).Is(t, http.StatusOK)
		expect.Equal(t, b.holds(on, time.Time{}), 1, "%s: on trial, %s has version", name, on)
		b.move(b.approver, 1, "released", `,"firstArticle":{"reference":"FAI-7"}`).Is(t, http.StatusOK)
		// The exact copy is the next version, with the same hash.
		b.save(2, string(read.Body)).Is(t, http.StatusCreated)
		expect.That(t, b.hash(1) == b.hash(2), "%s: a copy has another hash", name)
		changes := b.author.Get(t, b.version(2)+"/changes").Is(t, http.StatusOK).Object(t)
		list := changes["changes"].([]any)
		expect.That(t, len(list) == 0, "%s: a copy differs: %v", name, list)
		b.move(b.author, 1, "withdrawn", `,"orders":"finish"`).Is(t, http.StatusOK)
		expect.Equal(t, b.holds(on, time.Time{}), 0, "%s: withdrawn, %s has version", name, on)
	}
}

func TestMethods_Faults_AreAllToldWithPointers(t *testing.T) {
	b := newBench(t)
	d := b.save(1, `{"form":2,"basis":{"quantity":0,"unit":"RPM"},"steps":[{"id":"10","name":"","colour":"red"},{"id":"10","name":"x","setup":"5 min"}]}`).
		Refused(t, problem.ValidationFailed)
	var got []string
	for _, f := range d.Errors {
		got = append(got, f.Pointer+" "+f.Code)
	}
	want := "/form range,/basis/quantity range,/basis/unit format,/steps/0/name length,/steps/0/colour unknown,/steps/1/id duplicate,/steps/1/setup format"
	if strings.Join(got, ",") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ","), want)
	}
	// 64 KiB are accepted, and not a byte more; other operations keep their limit.
	large := func(size int) string {
		text := strings.Replace(smallContent, `"form":1`, `"form":1,"attributes":{}`, 1)
		return text + strings.Repeat(" ", size-len(text))
	}
	b.save(1, large(64<<10)).Is(t, http.StatusCreated)
	b.save(1, large(64<<10+1)).Refused(t, problem.BodyTooLarge)
	b.author.Patch(t, b.version(1), `{"status":"in_review","reason":"x"}`+strings.Repeat(" ", 16<<10)).Refused(t, problem.BodyTooLarge)
}

func TestMethods_IncompleteVersion_CannotBeSubmitted(t *testing.T) {
	b := newBench(t)
	b.save(1, `{"form":1,"basis":{"quantity":1,"unit":"1"},"steps":[{"id":"10","name":"a","equipment":{"machines":["press-1","nowhere"]}}]}`).Is(t, http.StatusCreated)
	d := b.move(b.author, 1, "in_review", "").Refused(t, problem.MethodIncomplete)
	var got []string
	for _, f := range d.Errors {
		got = append(got, f.Pointer+" "+f.Code)
	}
	want := "/steps/0/run required,/steps/0/equipment/machines/1 reference,/steps required"
	expect.That(t, strings.Join(got, ",") == want, "got %q", got)
	b.save(1, smallContent).Is(t, http.StatusNoContent)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	b.move(b.approver, 1, "trial", `,"machines":["nowhere"]`).Refused(t, problem.MethodIncomplete)
}

func TestMethods_SelfApproval_IsRefusedUnlessTheOwnerOfThePlatformSaysOtherwise(t *testing.T) {
	b := newBench(t)
	b.save(1, smallContent).Is(t, http.StatusCreated)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	b.move(b.author, 1, "released", "").Refused(t, problem.SelfApproval)
	b.author.Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich","methodApproval":"single"}`).Refused(t, problem.Forbidden)
	owner := b.w.Owner(t)
	owner.Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich","methodApproval":"single"}`).Is(t, http.StatusNoContent)
	owner.Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich 1"}`).Is(t, http.StatusNoContent)
	got := owner.Get(t, "/api/factories/munich-1").Object(t)["methodApproval"]
	expect.That(t, got == "single", "a registration without it made the approval %v", got)
	b.move(b.author, 1, "released", "").Is(t, http.StatusOK)
}

func TestMethods_NextVersion_WhileOneIsOpen_IsRefused(t *testing.T) {
	b := newBench(t)
	b.save(1, smallContent).Is(t, http.StatusCreated)
	b.save(2, another("Mill")).Refused(t, problem.VersionOpen)
	b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
	b.save(2, another("Mill")).Is(t, http.StatusCreated)
}

// TestMethods_SignatureIsBoundToTheContent: between reading and signing, the version is returned, saved
// again and submitted.
func TestMethods_SignatureIsBoundToTheContent(t *testing.T) {
	b := newBench(t)
	b.save(1, smallContent).Is(t, http.StatusCreated)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	read := b.body(1, "released", "")
	b.move(b.author, 1, "draft", "").Is(t, http.StatusOK)
	b.save(1, another("Press twice")).Is(t, http.StatusNoContent)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	b.approver.Patch(t, b.version(1), read).Refused(t, problem.ContentChanged)
	b.move(b.approver, 1, "released", "").Is(t, http.StatusOK)
	signatures := b.author.Get(t, b.version(1)).Object(t)["signatures"].([]any)
	approval := signatures[1].(map[string]any)
	if approval["meaning"] != "approval" || approval["userId"] != "anna" || approval["name"] != "anna" || approval["contentSha256"] != b.hash(1) || approval["authenticatedAt"] == nil {
		t.Errorf("the approval is %v", approval)
	}
}
