package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/export"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// exported reads all pages of an organization's export. It returns the values by kind, and all lines.
func exported(t *testing.T, by *harness.Caller, organization string, limit int) (values map[string][]map[string]any, text string) {
	t.Helper()
	values = map[string][]map[string]any{}
	var all strings.Builder
	next := fmt.Sprintf("/api/organizations/%s/export?limit=%d", organization, limit)
	for next != "" {
		page := by.Get(t, next).Is(t, http.StatusOK)
		lines := strings.SplitAfter(string(page.Body), "\n")
		got := len(lines) - 1
		expect.Must(t, got <= limit && lines[got] == "", "a page of %d lines, limit %d: %s", got, limit, page.Body)
		for _, line := range lines[:len(lines)-1] {
			var one struct {
				Kind  string
				Value map[string]any
			}
			err := json.Unmarshal([]byte(line), &one)
			expect.Must(t, err == nil, "%v: %s", err, line)
			values[one.Kind] = append(values[one.Kind], one.Value)
			all.WriteString(line)
		}
		next, _, _ = strings.Cut(strings.TrimPrefix(page.Header.Get("Link"), "<"), ">")
	}
	return values, all.String()
}

// A kind of lines comes from the rows of a table; the fields identify a row in it.
type exportedKind struct {
	table  dynamo.TableID
	fields []string
}

func (k exportedKind) identity(row map[string]any) string {
	parts := []string{string(k.table)}
	for _, name := range k.fields {
		parts = append(parts, fmt.Sprint(row[name]))
	}
	return strings.Join(parts, " ")
}

var (
	enrolmentFields = []string{"id", "edgeId", "listed", "boxes"}
	warnedFields    = []string{"factoryId", "methodId", "edgeType", "version"}
)

var exportedKinds = map[string]exportedKind{
	"gateway":                   {dynamo.Gateways, []string{"organizationId"}},
	"rate-limit":                {dynamo.RateOverrides, []string{"subject"}},
	"edge":                      {dynamo.Edges, []string{"edgeId"}},
	"edge-report":               {dynamo.Reports, []string{"edgeId"}},
	"edge-stay":                 {dynamo.Stays, []string{"edgeId", "began"}},
	"enrolment":                 {dynamo.Enrolments, enrolmentFields},
	"enrolment-boxes":           {dynamo.Enrolments, enrolmentFields},
	"factory":                   {dynamo.Factories, []string{"factoryId"}},
	"machine":                   {dynamo.Machines, []string{"factoryId", "code"}},
	"product":                   {dynamo.Products, []string{"factoryId", "productId"}},
	"production-method":         {dynamo.Methods, []string{"methodId"}},
	"production-method-version": {dynamo.MethodVersions, []string{"methodId", "version"}},
	"production-method-content": {dynamo.MethodContents, []string{"methodId", "sha256"}},
	"production-method-report":  {dynamo.MethodReports, []string{"methodId", "machine"}},
	"release-support":           {dynamo.Progress, warnedFields},
	"recall":                    {dynamo.Progress, warnedFields},
	"audit-event":               {dynamo.Audit, []string{"eventId"}},
}

// notExported are the attributes that are not in lines: those for lists and filters, and hashes of tokens and codes.
var notExported = []string{
	"listKey", "pair", "shard", "stateKey", "place", "productMethod", "factoryStatus", "number", "part", "why", "override",
	"stream", "position", "streamResource", "streamActor", "streamResourceActor", "streamOrganization", "codeSha256", "tokenSha256",
	"endedSha256", "bannedSha256",
}

// TestExport_OfAnOrganizationThatDidEverything_HasEveryRowOfIt makes the call of every sample for the organization acme, and
// many for another one. It then compares the export with all rows of all tables. So it also finds a new table with rows of
// an organization that the export does not read.
func TestExport_OfAnOrganizationThatDidEverything_HasEveryRowOfIt(t *testing.T) {
	t.Parallel()
	w := harness.New(t, uncached, withAssistant(t),
		withSettings(setting.LimitUser.Assign(setting.HighestLimit), setting.LimitOrganization.Assign(setting.HighestLimit)))
	did := doEverything(t, w)
	values, text := exported(t, w.Admin(t, "acme"), "acme", 7)
	expect.That(t, !strings.Contains(text, "rival"), "data of another organization is in the export")
	checkNoHashes(t, w, text)
	own := namesOfAcme(t, w)
	exportedRows := map[string]map[string]any{}
	for kind, list := range values {
		of, known := exportedKinds[kind]
		expect.That(t, known, "the kind %s is unknown", kind)
		for _, value := range list {
			if exportedRows[of.identity(value)] != nil {
				t.Errorf("%s is in the export twice", of.identity(value))
			}
			exportedRows[of.identity(value)] = value
		}
	}
	for table, why := range export.Elsewhere {
		for _, row := range w.Items(t, table) {
			expect.That(t, row["organizationId"] != "acme",
				"%s is not exported (%s), and has the organization's row %v", table, why, row)
		}
	}
	for kind, of := range exportedKinds {
		rows := 0
		for _, row := range w.Items(t, of.table) {
			if !ofAcme(t, row, own) || of.table == dynamo.Progress && row["organizationId"] == nil { // counts of the platform's rollouts
				continue
			}
			rows++
			value := exportedRows[of.identity(row)]
			if value == nil {
				t.Errorf("the export lacks %s", of.identity(row))
				continue
			}
			for name := range row {
				if _, shown := value[name]; !shown && !slices.Contains(notExported, name) {
					t.Errorf("%s: the export lacks the field %s", of.identity(row), name)
				}
			}
		}
		if rows == 0 && of.table != dynamo.RateCounters || len(values[kind]) == 0 { // counters have hashes of names
			t.Errorf("there are %d rows of %s, and %d lines of %s", rows, of.table, len(values[kind]), kind)
		}
	}
	once, _ := exported(t, w.Owner(t), "acme", 100)
	for kind, list := range values {
		if len(once[kind]) != len(list) && kind != "call-counter" {
			t.Errorf("%s: %d lines in large pages, %d in small ones", kind, len(once[kind]), len(list))
		}
	}
	none, _ := exported(t, w.Owner(t), "unknown", 100)
	expect.That(t, len(none) == 0, "for an unknown organization there is %v", none)
	t.Logf("after %d calls: %d lines of %s", did, strings.Count(text, "\n"), slices.Sorted(maps.Keys(values)))
}

func TestExport_EachTable_IsReadOrSaysWhyNot(t *testing.T) {
	read := map[dynamo.TableID]bool{}
	for _, of := range exportedKinds {
		read[of.table] = true
	}
	for _, table := range dynamo.Tables {
		if read[table.ID] == (export.Elsewhere[table.ID] != "") {
			t.Errorf("%s: read %v, and said not to be: %q", table.ID, read[table.ID], export.Elsewhere[table.ID])
		}
	}
}

// doEverything makes the call of each sample, and returns how many succeeded.
func doEverything(t *testing.T, w *harness.World) int {
	t.Helper()
	did := 0
	calls := w.Samples(t)
	rival := samples.Fresh(func(stem string) string { return "rival-" + harness.Name(stem) })
	rival["organization"] = "rival"
	session := w.Session(t, rival)
	for _, s := range samples.All {
		call := calls[s.Operation]
		if call.Method == http.MethodDelete || s.Operation == "reset-edge-enrolment" {
			call = w.Session(t, samples.Fresh(harness.Name)).Call(t, s.Operation) // other samples need what it would delete
		}
		if w.Make(t, call).Status/100 == 2 {
			did++
		}
	}
	for _, operation := range []string{"get-machine-methods", "put-update-report", "accept-edge-enrolment",
		"put-gateway-token", "put-method-report"} {
		w.Make(t, session.Call(t, operation))
	}
	w.Owner(t).Put(t, "/api/rate-limits/organizations/acme", `{"limit":30000,"reason":"a large import"}`).Is(t, http.StatusCreated)
	for _, c := range samples.Of("update-method-version").Cases { // the last one withdraws a version that machines may have
		call := expect.Value(w.Session(t, samples.Fresh(harness.Name)).Prepare("update-method-version", c))(t)
		w.Make(t, call).Is(t, call.Status)
	}
	// Support ends of a version that a box runs.
	w.Owner(t).Put(t, channelPath("old", "stable"), release("0.1.0", digest("a"))).Is(t, http.StatusCreated)
	w.Owner(t).Put(t, "/api/edges/old-1", `{"edgeType":"old","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	w.Box(t, "old-1").Get(t, manifestPath("old-1")+"?installed=0.1.0").Is(t, http.StatusOK)
	w.Owner(t).Put(t, "/api/ota/releases/old/0.1.0", `{"supportedUntil":"2026-01-01T00:00:00Z"}`).Is(t, http.StatusCreated)
	expect.OK(t, w.RunTask(t.Context(), operations.Tick))
	// A box moves from the other organization to acme. Its earlier events still belong to the other one.
	moves := `{"edgeType":"gateway-x","channel":"stable","organizationId":%q}`
	w.Owner(t).Put(t, "/api/edges/moved-1", fmt.Sprintf(moves, "rival")).Is(t, http.StatusCreated)
	w.Owner(t).Put(t, "/api/edges/moved-1", fmt.Sprintf(moves, "acme")).Is(t, http.StatusNoContent)
	return did
}

// namesOfAcme are the organization's name, and the ids of its factories, boxes, enrolments and methods.
func namesOfAcme(t *testing.T, w *harness.World) []string {
	t.Helper()
	names := []string{"acme"}
	for _, of := range []struct {
		table dynamo.TableID
		id    string
	}{
		{dynamo.Factories, "factoryId"}, {dynamo.Edges, "edgeId"}, {dynamo.Enrolments, "id"}, {dynamo.Methods, "methodId"},
	} {
		for _, row := range w.Items(t, of.table) {
			if ofAcme(t, row, names) {
				names = append(names, fmt.Sprint(row[of.id]))
			}
		}
	}
	return names
}

// ofAcme reports whether a row names the organization or one of its things. Earlier rows of a box that moved to it
// belong to the other organization.
func ofAcme(t *testing.T, row map[string]any, names []string) bool {
	t.Helper()
	text := expect.Value(json.Marshal(row))(t)
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(string(text), `"`+name+`"`) }) &&
		!strings.Contains(string(text), `"organizationId":"rival"`)
}

// checkNoHashes searches an export for all stored hashes of tokens and codes.
func checkNoHashes(t *testing.T, w *harness.World, text string) {
	t.Helper()
	hashes := 0
	look := func(v any) {
		if hash, is := v.(string); is && hash != "" {
			if hashes++; strings.Contains(text, hash) {
				t.Errorf("the hash %s is in the export", hash)
			}
		}
	}
	for _, table := range []dynamo.TableID{dynamo.Reports, dynamo.Gateways, dynamo.Enrolments} {
		for _, row := range w.Items(t, table) {
			if tokens, is := row["tokens"].(map[string]any); is {
				look(tokens["current"])
				look(tokens["previous"])
			}
			look(row["codeSha256"])
			look(row["tokenSha256"])
		}
	}
	expect.That(t, hashes >= 4, "only %d hashes are stored", hashes)
}
