package e2e

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/platform/problem"
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
	if got := a.Is(t, http.StatusOK).Object(t); !reflect.DeepEqual(got, want) {
		t.Errorf("answered %v, want %v", got, want)
	}
}

func TestRegisterEdges_NewMovedAndUnchangedBoxes_AreCountedAndAudited(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	became(t, owner.Post(t, "/api/edges", boxes(boxSaid("a-1", "gateway", "stable"), boxSaid("a-2", "gateway", "stable"))), 2, 0, 0)
	became(t, owner.Post(t, "/api/edges", boxes(boxSaid("a-1", "gateway", "canary"), boxSaid("a-2", "gateway", "stable"), boxSaid("a-3", "gateway", "stable"))), 1, 1, 1)
	if got := owner.Get(t, "/api/edges/a-1").Object(t); got["channel"] != "canary" || got["revision"] != 2.0 {
		t.Errorf("a-1 is %v", got)
	}
	for id, want := range map[string]int{"a-1": 2, "a-2": 1, "a-3": 1} {
		if events := w.Events(t, "edge", id); len(events) != want {
			t.Errorf("%s has %d events, want %d", id, len(events), want)
		}
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
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the faults are %q, want %q", got, want)
	}
	for name, body := range map[string]string{"none": boxes(), "31": boxes(strings.Split(strings.Repeat(boxSaid("c", "gateway", "stable")+" ", 31), " ")[:31]...)} {
		if d := owner.Post(t, "/api/edges", body).Refused(t, problem.ValidationFailed); d.Errors[0].Pointer != "/edges" {
			t.Errorf("%s boxes: %+v", name, d.Errors)
		}
	}
	if after := w.State(t); after != before {
		t.Errorf("something was written: %s", after)
	}
}

func TestRegisterEdges_FactoryOfAnotherOrganization_RefusesAllBoxes(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	owner.Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich"}`).Is(t, http.StatusCreated)
	owner.Put(t, "/api/factories/lyon-1", `{"organizationId":"rival","name":"Lyon"}`).Is(t, http.StatusCreated)
	before := w.State(t)
	d := owner.Post(t, "/api/edges", boxes(
		boxSaid("d-1", "gateway", "stable", `,"factoryId":"munich-1"`),
		boxSaid("d-2", "gateway", "stable", `,"factoryId":"lyon-1"`),
		boxSaid("d-3", "gateway", "stable", `,"factoryId":"nowhere"`),
	)).Refused(t, problem.FactoryNotInOrganization)
	if len(d.Errors) != 2 || d.Errors[0].Pointer != "/edges/1/factoryId" || d.Errors[1].Pointer != "/edges/2/factoryId" {
		t.Errorf("the faults are %+v", d.Errors)
	}
	if after := w.State(t); after != before {
		t.Errorf("something was written: %s", after)
	}
	became(t, owner.Post(t, "/api/edges", boxes(boxSaid("d-1", "gateway", "stable", `,"factoryId":"munich-1"`))), 1, 0, 0)
}

func TestRegisterEdges_SameKeyAgain_GivesTheFirstAnswer(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	batch := boxes(boxSaid("e-1", "gateway", "stable"), boxSaid("e-2", "gateway", "stable"))
	became(t, owner.Post(t, "/api/edges", batch, "Idempotency-Key", "k1"), 2, 0, 0)
	owner.Put(t, "/api/edges/e-1", `{"edgeType":"gateway","channel":"canary","organizationId":"acme"}`).Is(t, http.StatusNoContent)
	became(t, owner.Post(t, "/api/edges", batch, "Idempotency-Key", "k1"), 2, 0, 0)
	if got := owner.Get(t, "/api/edges/e-1").Object(t); got["channel"] != "canary" {
		t.Errorf("the repetition moved the box: %v", got)
	}
	owner.Post(t, "/api/edges", boxes(boxSaid("e-3", "gateway", "stable")), "Idempotency-Key", "k1").Refused(t, problem.IdempotencyKeyReused)
}

func TestRegisterEdges_ThirtyBoxes_CountAsOneCall(t *testing.T) {
	w := harness.New(t, withSettings("LIMIT_USER=2", "LIMIT_COPILOT_USER=2"))
	owner := w.Owner(t)
	all := make([]string, 30)
	for i := range all {
		all[i] = boxSaid(fmt.Sprintf("f-%d", i), "gateway", "stable")
	}
	became(t, owner.Post(t, "/api/edges", boxes(all...)), 30, 0, 0)
	became(t, owner.Post(t, "/api/edges", boxes(all...)), 0, 0, 30)
	owner.Post(t, "/api/edges", boxes(all...)).Refused(t, problem.RateLimited)
}

func TestListEdges_IDPrefix_ListsThoseThatBeginSo(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
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
		if got := ids(query); !reflect.DeepEqual(got, want) {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
	}
	owner.Get(t, "/api/edges?organizationId=acme&idPrefix=-").Refused(t, problem.ValidationFailed)
}
