package e2e

import (
	"net/http"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

const attributesPath = "/api/edges/box-1/attributes"

func TestAttributes_OfTheRegistrationAndOfTheBox_AreShownAndFound(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","attributes":{"board":"C"}}`).Is(t, http.StatusCreated)
	w.Box(t, "box-1").Put(t, attributesPath, `{"attributes":{"board":"B","modem":" LTE "}}`).Is(t, http.StatusNoContent)
	owner.Put(t, "/api/edges/box-2", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	owner.Get(t, "/api/edges/box-1", "If-None-Match", `"1"`).Is(t, http.StatusOK).
		Has(t, `{"attributes":{"board":"C"},"saidAttributes":{"board":"B","modem":"LTE"},"revision":1}`)
	var all struct{ Items []edge.Shown }
	owner.Get(t, "/api/edges?organizationId=acme").Is(t, http.StatusOK).Into(t, &all)
	expect.Equal(t, all.Items[0].Said, map[string]string{"board": "B", "modem": "LTE"}, "in a list, the box says")
	for filter, want := range map[string]int{"board:C": 1, "board:B": 0, "modem:LTE": 1, "modem:lte": 0} {
		var page struct{ Items []edge.Shown }
		owner.Get(t, "/api/edges?organizationId=acme&attribute="+filter).Is(t, http.StatusOK).Into(t, &page)
		expect.Equal(t, len(page.Items), want, "boxes with %s:", filter)
	}

	// What is missing is kept, null removes it, and the same again writes nothing.
	before := w.State(t)
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusNoContent)
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","attributes":{"board":"C"}}`).Is(t, http.StatusNoContent)
	w.Box(t, "box-1").Put(t, attributesPath, `{"attributes":{"modem":" LTE ","board":"B"}}`).Is(t, http.StatusNoContent)
	expect.Equal(t, w.State(t), before, "after the same again, the stored data is")
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","attributes":null}`, "If-Match", `"1"`).Is(t, http.StatusNoContent)
	var trail struct {
		Items []struct{ Before, After edge.Edge }
	}
	owner.Get(t, "/api/audit-events?resourceType=edge&resourceId=box-1&limit=1").Into(t, &trail)
	last := trail.Items[0]
	expect.Equal(t, last.Before.Attributes, map[string]string{"board": "C"}, "before the last change, the box had")
	expect.Equal(t, last.After.Attributes, nil, "after it:")

	// A retirement forgets what the box said.
	owner.Do(t, http.MethodDelete, "/api/edges/box-1", "").Is(t, http.StatusNoContent)
	w.Box(t, "box-1").Put(t, attributesPath, `{"attributes":{}}`).Refused(t, problem.NotFound)
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	got := owner.Get(t, "/api/edges/box-1").Object(t)
	expect.Equal(t, []any{got["attributes"], got["saidAttributes"]}, []any{nil, nil}, "registered again, its attributes are")
}

// TestAttributes_ThatDoNotFit_AreFitted, if the box says them. A person who registers it is refused, and nobody else says them for it.
func TestAttributes_ThatDoNotFit_AreFitted(t *testing.T) {
	t.Parallel()
	w, owner := served(t)
	boxes := w.Box(t, "box-1")
	boxes.Put(t, attributesPath, `{"attributes":{"board":"C"}}`).Is(t, http.StatusNoContent)
	boxes.Get(t, manifestPath("box-1")).Is(t, http.StatusOK)
	boxes.Put(t, attributesPath, `{"attributes":{"a b":"x","board":7,"c":""}}`).Is(t, http.StatusNoContent)
	known := why(t, owner, "box-1")
	expect.Equal(t, known.Attributes, map[string]string{"a_b": "x", "board": "7"}, "the attributes")
	expect.Equal(t, known.Heard, []report.Heard{
		{Way: report.ByAttributes, Heard: input.Heard{Field: "attributes/a b", Said: "a b: x", Read: "a_b: x"}},
		{Way: report.ByAttributes, Heard: input.Heard{Field: "attributes/c", Said: "c:␣"}},
	}, "what was read otherwise")
	before := w.State(t)
	boxes.Get(t, manifestPath("box-1")).Is(t, http.StatusOK)
	w.Box(t, "box-2").Put(t, attributesPath, `{"attributes":{}}`).Refused(t, problem.NotFound)
	owner.Put(t, attributesPath, `{"attributes":{}}`).Refused(t, problem.Forbidden)
	w.As(t, "anna", "acme", auth.OrganizationAdmin).Put(t, attributesPath, `{"attributes":{}}`).Refused(t, problem.Forbidden)
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","attributes":{"a b":"x"}}`).Refused(t, problem.ValidationFailed)
	expect.Equal(t, w.State(t), before, "the stored data is")
}
