package e2e

import (
	"net/http"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/platform/problem"
)

func TestMachines_AreRegisteredRenamedAndRead(t *testing.T) {
	p := newPlant(t, harness.New(t))
	path := p.factory + "/machines/Mill_2.b-1"
	p.engineer.Put(t, path, `{"name":" Mill 2 "}`).Is(t, http.StatusCreated)
	p.admin.Put(t, path, `{"name":"Mill 2"}`).Is(t, http.StatusNoContent)                                                  // the same
	p.admin.Put(t, path, `{"name":"Mill two"}`, "If-Match", `"1"`).Is(t, http.StatusNoContent)                             // revision 2
	p.engineer.Put(t, path, `{"name":"Mill three"}`, "If-Match", `"1"`).Refused(t, problem.PreconditionFailed)             // of the past
	p.engineer.Put(t, path, `{"name":"Mill three"}`, "If-None-Match", "*").Refused(t, problem.PreconditionFailed)          // is there
	p.engineer.Put(t, p.factory+"/machines/new", `{"name":"New"}`, "If-Match", "*").Refused(t, problem.PreconditionFailed) // is not

	a := p.engineer.Get(t, path).Is(t, http.StatusOK)
	if m := a.Object(t); m["code"] != "Mill_2.b-1" || m["name"] != "Mill two" || m["revision"] != 2.0 || a.Header.Get("ETag") != `"2"` {
		t.Errorf("the machine is %s", a.Body)
	}
	p.engineer.Get(t, path, "If-None-Match", `"2"`).Is(t, http.StatusNotModified)
	p.owner.Get(t, path).Is(t, http.StatusOK)
	p.engineer.Get(t, p.factory+"/machines/none").Refused(t, problem.NotFound)
}

func TestMachines_AreChangedByTheirOwnOrganizationAlone(t *testing.T) {
	w := harness.New(t)
	p := newPlant(t, w)
	path := p.factory + "/machines/press-0"
	before := w.State(t)
	p.owner.Put(t, path, `{"name":"Mine"}`).Refused(t, problem.Forbidden)
	w.Engineer(t, "rival").Put(t, path, `{"name":"Mine"}`).Refused(t, problem.NotFound)
	w.Admin(t, "rival").Put(t, path, `{"name":"Mine"}`).Refused(t, problem.NotFound)
	w.Engineer(t, "rival").Get(t, path).Refused(t, problem.NotFound)
	w.Nobody().Put(t, path, `{"name":"Mine"}`).Refused(t, problem.Unauthenticated)
	if after := w.State(t); after != before {
		t.Errorf("something was written:\n%s\nwas\n%s", after, before)
	}
}
