package command_test

import (
	csvreader "encoding/csv"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

func TestWhy_SaysIt_AndComputesItHere(t *testing.T) {
	d := newDesk(t, settings("CHANNEL_CACHE_SECONDS=0"))
	d.starts(30)
	d.fails()
	d.does("why", "box-0027", "--verify").is(run.Done).
		says("Told 1.1.0: its percentile is 7", "It failed at 1.1.0", "boot, no heartbeat within 90 s",
			"last seen", "Computed here, too: percentile 7, reached at 10 %")
	d.does("why", "box-0001", "--verify").is(run.Done).says("it is reached at 100", "Computed here, too: percentile 80, reached at 100 %")
	d.does("why", "box-9999").is(run.Refused)
}

func TestBoxes_ByStand_ByPrefix_AndCut(t *testing.T) {
	d := newDesk(t, settings("CHANNEL_CACHE_SECONDS=0"))
	d.starts(30)
	d.fails()
	d.does("boxes", "gateway-x/stable", "--state", "failed").is(run.Done).says("box-0027", "boot").not("box-0001")
	r := d.does("boxes", "gateway-x/stable", "--prefix", "box-002").is(run.Done)
	expect.That(t, strings.Count(r.out, "box-") == 10, "it lists %s", r.out)
	d.does("boxes", "gateway-x/stable", "--state", "asleep").is(run.Refused).warns("VALIDATION_FAILED")
}

// TestBoxes_AsCSV_CanBeRegisteredAgain: register reads the file of a channel's boxes. What a box reports about its
// failure is not a formula in a spreadsheet.
func TestBoxes_AsCSV_CanBeRegisteredAgain(t *testing.T) {
	d := newDesk(t, settings("CHANNEL_CACHE_SECONDS=0"))
	d.starts(30)
	d.fails()
	r := d.does("boxes", "gateway-x/stable", "--csv", "--limit", "0").is(run.Done)
	if lines := strings.Split(strings.TrimSpace(r.out), "\n"); len(lines) != 31 ||
		lines[0] != "edgeId,edgeType,channel,organizationId,factoryId,attributes" || lines[1] != "box-0001,gateway-x,stable,acme,," {
		t.Fatalf("it is %q", r.out)
	}
	d.does("register", d.file("again.csv", r.out), "--yes").is(run.Done).says("30 unchanged")
	r = d.does("boxes", "gateway-x/stable", "--csv", "--state", "failed").is(run.Done)
	if records, err := csvreader.NewReader(strings.NewReader(r.out)).ReadAll(); err != nil || len(records) != 2 ||
		records[1][0] != "box-0027" || records[1][3] != "failed" || records[1][7] != "boot" {
		t.Errorf("it is %q, %v", r.out, err)
	}
	d.does("boxes", "gateway-x/stable", "--csv", "--limit", "3").is(run.Done).warns("there are more")
	d.does("boxes", "gateway-x/stable", "--csv", "--json").is(run.Misused)
}

func TestLog_OfAll_OfABox_OfAPerson(t *testing.T) {
	d := newDesk(t)
	d.starts(3)
	d.As(t, "anna", "wavegate", "platform_owner").Put(t, "/api/factories/lyon-1",
		`{"organizationId":"rival","name":"Lyon"}`).Is(t, http.StatusCreated)
	d.does("log", "--since", "1h").is(run.Done).says("anna  FactoryRegistered", "olga  RolloutStarted 1 %")
	d.does("log", "--actor", "anna").is(run.Done).says("lyon-1").not("olga")
	d.does("log", "box-0002").is(run.Done).says("EdgeRegistered stable")
	d.does("log", "--limit", "2").is(run.Done).warns("there are more")
}

func TestLimit_SetShownAndEnded(t *testing.T) {
	d := newDesk(t)
	d.does("limit", "get", "eric").is(run.Done).says("the defaults apply")
	d.does("limit", "set", "eric").is(run.Misused)
	d.does("limit", "set", "eric", "--calls", "1200", "--for", "24h", "--reason", "data migration").is(run.Done)
	d.does("limit", "get", "eric").is(run.Done).says("1200", "data migration", "until")
	d.does("limit", "end", "eric").is(run.Done)
	d.does("limit", "end", "eric").is(run.Done)
	d.does("limit", "get", "eric").is(run.Done).says("the defaults apply")
}

func TestRetire_ABox(t *testing.T) {
	d := newDesk(t)
	d.does("register", d.file("boxes.csv", csv(2)), "--yes").is(run.Done)
	d.does("retire", "box-0001").is(run.Misused).warns("Retire box-0001 of acme, which follows gateway-x/stable?")
	d.does("retire", "box-0001", "--yes").is(run.Done).says("is retired")
	d.does("retire", "box-0001", "--yes").is(run.Refused)
}

// TestImports_NoFunctionHasWhatTheCommandNeeds: the command does not make the functions larger.
func TestImports_NoFunctionHasWhatTheCommandNeeds(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./functions/...")
	list.Dir = "../../.."
	out, err := list.Output()
	expect.Must(t, err == nil && strings.Contains(string(out), "wavegate/functions/update-rollout"), "%v: %s", err, out)
	for _, name := range strings.Fields(string(out)) {
		for _, other := range []string{"github.com/spf13/", "golang.org/x/oauth2", "golang.org/x/term", "wavegate/scripts/"} {
			expect.That(t, !strings.HasPrefix(name, other), "a function imports %s", name)
		}
	}
}
