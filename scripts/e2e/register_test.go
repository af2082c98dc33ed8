package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// boxSaid is a box in a batch; more are further fields.
func boxSaid(id, edgeType, channel string, more ...string) string {
	return fmt.Sprintf(`{"edgeId":%q,"edgeType":%q,"channel":%q,"organizationId":"acme"%s}`, id, edgeType, channel, strings.Join(more, ""))
}

func boxes(list ...string) string { return `{"edges":[` + strings.Join(list, ",") + `]}` }

// became returns the answer to a batch.
func became(t *testing.T, a harness.Answer, registered, reassigned, unchanged float64) {
	t.Helper()
	want := map[string]any{"registered": registered, "reassigned": reassigned, "unchanged": unchanged}
	expect.Equal(t, a.Is(t, http.StatusOK).Object(t), want, "answered")
}

func TestRegisterEdges_NewMovedAndUnchangedBoxes_AreCountedAndAudited(t *testing.T) {
	w, owner := begin(t)
	became(t, owner.Post(t, "/api/edges", boxes(boxSaid("a-1", "gateway", "stable"), boxSaid("a-2", "gateway", "stable"))), 2, 0, 0)
	became(t, owner.Post(t, "/api/edges", boxes(boxSaid("a-1", "gateway", "canary"), boxSaid("a-2", "gateway", "stable"),
		boxSaid("a-3", "gateway", "stable"))), 1, 1, 1)
	owner.Get(t, "/api/edges/a-1").Has(t, `{"channel":"canary","revision":2}`)
	for id, want := range map[string]int{"a-1": 2, "a-2": 1, "a-3": 1} {
		expect.Equal(t, len(w.Events(t, "edge", id)), want, "events of %s:", id)
	}
}

func TestRegisterEdges_EveryFault_IsToldByItsIndex_AndNothingIsWritten(t *testing.T) {
	w := harness.New(t)
	owner, before := w.Owner(t), w.State(t)
	d := owner.Post(t, "/api/edges", boxes(
		boxSaid("b-1", "gateway", "stable"),
		boxSaid("b 2", "gateway", "stable", `,"color":"red"`),
		boxSaid("b-1", "gateway", "stable", `,"issuer":"https://elsewhere.example"`),
		`{"edgeId":"b-4","edgeType":"gateway"}`,
	)).Refused(t, problem.ValidationFailed)
	var got []string
	for _, f := range d.Errors {
		got = append(got, f.Pointer+" "+f.Code)
	}
	want := []string{"/edges/1/edgeId format", "/edges/1/color unknown", "/edges/2/issuer unknown", "/edges/2/edgeId duplicate",
		"/edges/3/channel required", "/edges/3/organizationId required"}
	expect.Equal(t, got, want, "the faults are")
	for name, body := range map[string]string{"none": boxes(),
		"31": boxes(strings.Split(strings.Repeat(boxSaid("c", "gateway", "stable")+" ", 31), " ")[:31]...)} {
		d := owner.Post(t, "/api/edges", body).Refused(t, problem.ValidationFailed)
		expect.Equal(t, d.Errors[0].Pointer, "/edges", "the first fault of %s boxes:", name)
	}
	expect.Equal(t, w.State(t), before, "the stored data is")
}

func TestRegisterEdges_FactoryOfAnotherOrganization_RefusesAllBoxes(t *testing.T) {
	w, owner := begin(t)
	owner.Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich"}`).Is(t, http.StatusCreated)
	owner.Put(t, "/api/factories/lyon-1", `{"organizationId":"rival","name":"Lyon"}`).Is(t, http.StatusCreated)
	before := w.State(t)
	d := owner.Post(t, "/api/edges", boxes(
		boxSaid("d-1", "gateway", "stable", `,"factoryId":"munich-1"`),
		boxSaid("d-2", "gateway", "stable", `,"factoryId":"lyon-1"`),
		boxSaid("d-3", "gateway", "stable", `,"factoryId":"nowhere"`),
	)).Refused(t, problem.FactoryNotInOrganization)
	expect.Equal(t, pointers(d), "/edges/1/factoryId /edges/2/factoryId", "the faults are")
	expect.Equal(t, w.State(t), before, "the stored data is")
	became(t, owner.Post(t, "/api/edges", boxes(boxSaid("d-1", "gateway", "stable", `,"factoryId":"munich-1"`))), 1, 0, 0)
}

func TestRegisterEdges_SameKeyAgain_GivesTheFirstAnswer(t *testing.T) {
	_, owner := begin(t)
	batch := boxes(boxSaid("e-1", "gateway", "stable"), boxSaid("e-2", "gateway", "stable"))
	became(t, owner.Post(t, "/api/edges", batch, "Idempotency-Key", "k1"), 2, 0, 0)
	owner.Put(t, "/api/edges/e-1", `{"edgeType":"gateway","channel":"canary","organizationId":"acme"}`).Is(t, http.StatusNoContent)
	became(t, owner.Post(t, "/api/edges", batch, "Idempotency-Key", "k1"), 2, 0, 0)
	owner.Get(t, "/api/edges/e-1").Has(t, `{"channel":"canary"}`)
	owner.Post(t, "/api/edges", boxes(boxSaid("e-3", "gateway", "stable")), "Idempotency-Key", "k1").Refused(t, problem.IdempotencyKeyReused)
}

func TestRegisterEdges_ThirtyBoxes_CountAsOneCall(t *testing.T) {
	_, owner := begin(t, withSettings("LIMIT_USER=2", "LIMIT_COPILOT_USER=2"))
	all := make([]string, 30)
	for i := range all {
		all[i] = boxSaid(fmt.Sprintf("f-%d", i), "gateway", "stable")
	}
	became(t, owner.Post(t, "/api/edges", boxes(all...)), 30, 0, 0)
	became(t, owner.Post(t, "/api/edges", boxes(all...)), 0, 0, 30)
	owner.Post(t, "/api/edges", boxes(all...)).Refused(t, problem.RateLimited)
}

func TestListEdges_IDPrefix_ListsThoseThatBeginSo(t *testing.T) {
	_, owner := begin(t)
	became(t, owner.Post(t, "/api/edges", boxes(boxSaid("box-1", "gateway", "stable"), boxSaid("box-10", "gateway", "stable"),
		boxSaid("box-11", "gateway", "canary"), boxSaid("box-2", "gateway", "stable"), boxSaid("box", "gateway", "stable"))), 5, 0, 0)
	ids := func(query string) (all []string) {
		for path := "/api/edges?" + query; path != ""; {
			page := owner.Get(t, path).Is(t, http.StatusOK).Object(t)
			for _, item := range page["items"].([]any) {
				all = append(all, item.(map[string]any)["edgeId"].(string))
			}
			path, _ = page["next"].(string)
		}
		return all
	}
	for query, want := range map[string][]string{
		"organizationId=acme&idPrefix=box-1":                              {"box-1", "box-10", "box-11"},
		"edgeType=gateway&channel=stable&idPrefix=box-1&limit=1":          {"box-1", "box-10"},
		"edgeType=gateway&channel=stable&idPrefix=box":                    {"box", "box-1", "box-10", "box-2"},
		"edgeType=gateway&channel=stable&idPrefix=Box":                    nil,
		"edgeType=gateway&channel=stable&idPrefix=box-2&limit=1&offset=0": {"box-2"},
	} {
		expect.Equal(t, ids(query), want, "%s lists", query)
	}
	owner.Get(t, "/api/edges?organizationId=acme&idPrefix=-").Refused(t, problem.ValidationFailed)
}
