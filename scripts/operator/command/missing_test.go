package command_test

import (
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/operator/run"
)

// TestTypos_OfNames_SayWhatIsMissing_AndWhatIsNear: for everything that has a name.
func TestTypos_OfNames_SayWhatIsMissing_AndWhatIsNear(t *testing.T) {
	d := newDesk(t)
	d.starts(3)
	d.Owner(t).Put(t, "/api/factories/munich-1", `{"organizationId":"wavegate","name":"Munich"}`).Is(t, http.StatusCreated)
	d.As(t, "eric", "wavegate", "production_engineer").Put(t, "/api/factories/munich-1/machines/press-1",
		`{"name":"Press"}`).Is(t, http.StatusCreated)
	const nobody = "0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70"
	for line, says := range map[string]string{
		"status gateway-x/stabel":                             "there is no channel gateway-x/stabel; did you mean gateway-x/stable?",
		"promote gateway-y/stable":                            "there is no channel gateway-y/stable; did you mean gateway-x/stable?",
		"boxes gateway-x/satble":                              "there is no channel gateway-x/satble; did you mean gateway-x/stable?",
		"rollouts list gateway-x/stabe":                       "there is no channel gateway-x/stabe; did you mean gateway-x/stable?",
		"tokens list --channel gateway-x/stbale":              "there is no channel gateway-x/stbale; did you mean gateway-x/stable?",
		"versions nothing/like-it":                            "there is no channel nothing/like-it, or you are not allowed to see it; see wavegate status",
		"why box-00001":                                       "there is no box box-00001; did you mean box-0001",
		"box show bxo-0001":                                   "there is no box bxo-0001; did you mean box-0001",
		"why 0002":                                            "there is no box 0002; did you mean box-0002?",
		"retire other-9":                                      "there is no box other-9, or you are not allowed to see it",
		"factories show munch-1":                              "there is no factory munch-1; did you mean munich-1?",
		"machines list munich-2":                              "there is no factory munich-2; did you mean munich-1?",
		"machines show munich-1 pres-1":                       "there is no machine pres-1; did you mean press-1?",
		"machines set munch-1 m --name M":                     "there is no factory munch-1; did you mean munich-1?",
		"methods create munch-1 --name M --product " + nobody: "there is no factory munch-1; did you mean munich-1?",
		"methods versions munich-1 " + nobody:                 "there is no method " + nobody,
		"rollouts show " + nobody:                             "there is no rollout " + nobody,
		"policy show gateway-x/stable":                        "it is managed manually",
		"enrol show " + nobody:                                "there is no enrolment " + nobody,
	} {
		t.Run(line, func(t *testing.T) { d.at(t).does(strings.Fields(line)...).is(run.Refused).warns(says) })
	}
	d.does("boxes", "gateway-x/canary", "--prefix", "box-").is(run.Done) // the channel exists, and the list is empty
	var document struct{ Code string }
	if d.does("status", "gateway-x/stabel", "--json").is(run.Refused).into(&document); document.Code != "NOT_FOUND" {
		t.Errorf("with --json it has the code %q", document.Code)
	}
}

func TestCompletion_OffersNames_AndStates(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.does("register", d.file("boxes.csv", csv(12)), "--yes").is(run.Done)
	d.Owner(t).Put(t, "/api/factories/munich-1", `{"organizationId":"wavegate","name":"Munich"}`).Is(t, http.StatusCreated)
	d.As(t, "eric", "wavegate", "production_engineer").Put(t, "/api/factories/munich-1/machines/press-1",
		`{"name":"Press"}`).Is(t, http.StatusCreated)
	for line, offered := range map[string]string{
		"box show box-001":                "box-0010\nbox-0011\nbox-0012\n",
		"why box-000":                     "box-0001\n",
		"retire box-0":                    "box-0001\n",
		"machines list mu":                "munich-1\n",
		"machines show munich-1 pr":       "press-1\n",
		"boxes gateway-x/stable --state ": "failed\n",
		"rollouts boxes --state f":        "failed\n",
		"box set box-1 --channel gat":     "gateway-x/stable\n",
		"halt ":                           "gateway-x/canary\ngateway-x/stable\n",
		"pol":                             "policy\t",
	} {
		t.Run(line, func(t *testing.T) {
			d.at(t).does(append([]string{"__complete"}, strings.Split(line, " ")...)...).is(run.Done).says(offered)
		})
	}
	d.seen = func(*http.Request) error { return http.ErrServerClosed } // channels are remembered for a minute
	d.does("__complete", "halt", "").is(run.Done).says("gateway-x/canary\ngateway-x/stable")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		d.does("completion", shell).is(run.Done).says("wavegate")
	}
}
