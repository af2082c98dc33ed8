package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestContent_ForAMachine_HasItsStepsItsValuesAndItsDocuments plays the controller of a kiln with the script that the pages show.
func TestContent_ForAMachine_HasItsStepsItsValuesAndItsDocuments(t *testing.T) {
	b := newBench(t)
	for _, kiln := range []string{"kiln-1", "kiln-2"} {
		b.machine(kiln, "hot")
	}
	b.release(1, methodContent(t, "kiln"))
	var poll struct {
		Items []struct {
			ContentSHA256  string
			Steps, Classes []string
		}
	}
	const machines = "/api/factories/munich-1/machines/"
	b.author.Get(t, machines+"kiln-2/methods").Is(t, http.StatusOK).Into(t, &poll)
	expect.Must(t, len(poll.Items) == 1, "%+v", poll)
	expect.Equal(t, poll.Items[0].Steps, []string{"20"}, "the steps of the kiln")
	var got struct {
		Content, ContentSHA256 string
		For                    struct{ Steps, Parameters []string }
	}
	path := machines + "kiln-2/methods/" + id(b.path) + "/versions/1"
	b.author.Get(t, path).Is(t, http.StatusOK).Into(t, &got)
	sum := sha256.Sum256([]byte(got.Content))
	expect.Equal(t, hex.EncodeToString(sum[:]), poll.Items[0].ContentSHA256, "the hash of the bytes")
	expect.Equal(t, got.For.Steps, []string{"/steps/1"}, "the steps")
	expect.Equal(t, got.For.Parameters, []string{"/steps/1/parameters/0/overrides/0"}, "the overrides")
	b.author.Get(t, machines+"kiln-9/methods/"+id(b.path)+"/versions/1").Refused(t, problem.NotFound)
	b.author.Get(t, machines+"kiln-2/methods/"+id(b.path)+"/versions/9").Refused(t, problem.NotFound)
	b.w.Engineer(t, "rival").Get(t, path).Refused(t, problem.NotFound)

	for machine, want := range map[string]string{
		"kiln-1": "{'x': 8, 'y': 1220, 'min': 1210", "kiln-2": "{'x': 8, 'y': 1224}",
	} {
		out := expect.Value(exec.CommandContext(t.Context(), "python3", "../samples/controller.py", b.author.URL, strings.TrimPrefix(b.author.Bearer, "Bearer "), "munich-1", machine).Output())(t)
		plain := strings.ReplaceAll(strings.ReplaceAll(string(out), "'max': 1228, 'min': 1210, 'x': 8, 'y': 1220", "'x': 8, 'y': 1220, 'min': 1210"), "\n", " ")
		expect.That(t, strings.Contains(plain, want) && strings.HasPrefix(plain, "20 profile "), "%s: %s, want %s", machine, out, want)
	}
}

// TestContent_ABoxReadsWhatIsForAMachineOfItsFactory_OnceAVersionWasApproved also changes a class, by which steps come and go.
func TestContent_ABoxReadsWhatIsForAMachineOfItsFactory_OnceAVersionWasApproved(t *testing.T) {
	b := newBench(t)
	b.w.Owner(t).Put(t, "/api/edges/box-1", registration("munich-1", "")).Is(t, http.StatusCreated)
	box := b.w.Box(t, "box-1")
	path := "/api/factories/munich-1/machines/press-1/methods/" + id(b.path) + "/versions/1"
	b.save(1, smallContent).Is(t, http.StatusCreated)
	box.Get(t, path).Refused(t, problem.NotFound)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	b.move(b.approver, 1, "released", "").Is(t, http.StatusOK)
	steps := func() (list []string) {
		var got struct{ For struct{ Steps []string } }
		box.Get(t, path).Is(t, http.StatusOK).Into(t, &got)
		return got.For.Steps
	}
	expect.Equal(t, steps(), []string{"/steps/0"}, "the steps of a press")
	b.author.Put(t, "/api/factories/munich-1/machines/press-1", `{"name":"press-1","classes":["saw"]}`).Is(t, http.StatusNoContent)
	expect.That(t, slices.Equal(steps(), []string{}), "what is no press has steps")
}

// TestUnits_ThatAreProbablyNotMeant_AreNamedAtTheSaveAndWherePeopleSign also says that one is meant.
func TestUnits_ThatAreProbablyNotMeant_AreNamedAtTheSaveAndWherePeopleSign(t *testing.T) {
	b := newBench(t)
	hot := strings.Replace(smallContent, `"run"`, `"parameters":[{"id":"temperature","target":180,"unit":"C"}],"run"`, 1)
	saved := b.save(1, hot).Is(t, http.StatusCreated)
	const want = "/steps/0/parameters/0/unit: C is coulomb, a unit of electric charge; for temperature, write Cel"
	expect.Equal(t, saved.Header.Get("Wavegate-Warning"), want, "the warning of the save")
	type shown struct {
		Units  map[string]string
		Doubts []struct{ Pointer, Kind, Detail string }
	}
	var v shown
	b.author.Get(t, b.version(1)).Is(t, http.StatusOK).Into(t, &v)
	expect.Must(t, len(v.Doubts) == 1 && v.Doubts[0].Kind == "doubtful" && v.Units["C"] == "coulomb" && v.Units["min"] == "", "%+v", v)
	var moved struct{ Version shown }
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK).Into(t, &moved)
	expect.That(t, len(moved.Version.Doubts) == 1, "the submission says %+v", moved)
	b.move(b.author, 1, "draft", "").Is(t, http.StatusOK)
	meant := b.save(1, strings.Replace(hot, `"unit":"C"`, `"unit":"C","quantity":"electric charge"`, 1)).Is(t, http.StatusNoContent)
	expect.Equal(t, meant.Header.Get("Wavegate-Warning"), "", "the warning of a unit that is meant")
	d := b.save(1, strings.Replace(hot, `"unit":"C"`, `"unit":"C","quantity":"temperature"`, 1)).Refused(t, problem.ValidationFailed)
	expect.That(t, len(d.Errors) == 1 && strings.Contains(d.Errors[0].Detail, "must be Cel for temperature"), "%+v", d.Errors)
}
