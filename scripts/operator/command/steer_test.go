package command_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"wavegate/scripts/operator/run"
)

func TestSteer_FromPublicationToAdoption(t *testing.T) {
	d := newDesk(t)
	d.starts(20)
	d.does("status").is(run.Done).says("gateway-x/canary", "gateway-x/stable", "1.1.0", "1 %")
	d.does("status", "gateway-x/stable").is(run.Done).says("1.0.0 → 1.1.0", "told", "next      10 %")
	d.does("promote", "gateway-x/stable", "--yes", "--reason", "canary is fine").is(run.Done).says("is at 10 %")
	d.does("promote", "gateway-x/stable", "--yes").is(run.Done).says("is at 50 %")
	d.does("complete", "gateway-x/stable").is(run.Misused).warns("end the rollout of 1.1.0 at 50 %", "--yes")
	d.does("promote", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Done).says("is at 100 %")
	d.does("promote", "gateway-x/stable", "--yes").is(run.Refused).warns("complete it")
	d.does("complete", "gateway-x/stable", "--yes").is(run.Done).says("is completed")
	d.does("status", "gateway-x/stable").is(run.Done).says("1.1.0  no rollout is active")
	d.does("log", "gateway-x/stable").is(run.Done).
		says("RolloutPromoted 1 → 10 %", "canary is fine", "ReleaseAdopted 1.0.0 → 1.1.0", "RolloutCompleted")
}

func TestConfirm_WhatReachesFar_AsksForTheName(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	version := publishing("gateway-x/stable", "0.9.0")
	for name, flags := range map[string][]string{"nothing": nil, "yes": {"--yes"}, "another name": {"--confirm", "gateway-x/canary"}} {
		t.Run(name, func(t *testing.T) {
			d.at(t).does(append(version, flags...)...).is(run.Misused).warns("gateway-x/stable")
		})
	}
	d.does(append(version, "--yes")...).is(run.Misused).
		warns("instead of 1.0.0 to all 0 boxes", "earlier version", "--confirm gateway-x/stable")
	d.does("start", "gateway-x/canary", "1.0.0", "--yes").is(run.Misused).warns("earlier version")
	d.does("start", "gateway-x/stable", "1.1.0", "--no-guard", "--yes").is(run.Done)
	d.does("promote", "gateway-x/stable", "--yes").is(run.Done)
	d.does("promote", "gateway-x/stable", "--yes").is(run.Done)
	d.does("promote", "gateway-x/stable", "--yes").is(run.Misused).warns("from 50 to 100 %")
	d.stands("active", 50)
	d.does(append(version, "--confirm", "gateway-x/stable")...).is(run.Done)
	d.stands("halted", 50)
}

func TestConfirm_APersonIsAsked_AndOnlyTheirYesIsOne(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.asks = true
	for answer, code := range map[string]int{"": run.Misused, "n\n": run.Misused, "yes please\n": run.Misused} {
		d.typed = strings.NewReader(answer)
		d.does("start", "gateway-x/stable", "1.1.0").is(code).warns("[y/N]")
	}
	d.typed = strings.NewReader("y\n")
	d.does("start", "gateway-x/stable", "1.1.0", "--no-guard").is(run.Done)
	d.typed = strings.NewReader("gateway-x/canary\n")
	d.does(publishing("gateway-x/stable", "1.2.0")...).is(run.Misused).warns("It ends the rollout of 1.1.0")
	d.typed = strings.NewReader("gateway-x/stable\n")
	d.does(publishing("gateway-x/stable", "1.2.0")...).is(run.Done)
}

// meanwhile does something while a person reads a question, and then answers it.
type meanwhile struct {
	do     func()
	answer *strings.Reader
}

func (m *meanwhile) Read(b []byte) (int, error) {
	if m.do != nil {
		m.do()
		m.do = nil
	}
	return m.answer.Read(b)
}

func TestPromote_RolloutThatChangedWhileOneWasAsked_IsRefused(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	other := d.at(t)
	d.asks = true
	d.typed = &meanwhile{func() { other.does("promote", "gateway-x/stable", "--yes").is(run.Done) }, strings.NewReader("y\n")}
	d.does("promote", "gateway-x/stable").is(run.Refused).warns("from 1 to 10 %", "has changed since you saw it: it is at 10 %")
	d.stands("active", 10)
}

func TestPromote_AnswerThatIsLost_IsReadBack(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	d.seen = losesOne(http.MethodPatch)
	d.does("promote", "gateway-x/stable", "--yes").is(run.Done).says("is at 10 %")
	d.stands("active", 10)
	if events := d.Events(t, "rollout", d.rollout()); len(events) != 2 {
		t.Errorf("%d events", len(events))
	}
}

// losesOne loses the answer to the first call with a method: the call is made, but its answer does not come back.
func losesOne(method string) func(*http.Request) error {
	lost := false
	return func(r *http.Request) error {
		if r.Method != method || lost {
			return nil
		}
		lost = true
		body, err := r.GetBody()
		if err != nil {
			return err
		}
		again := r.Clone(r.Context())
		again.Body = body
		res, err := http.DefaultTransport.RoundTrip(again)
		if err != nil {
			return err
		}
		_ = res.Body.Close()
		return iotest.ErrTimeout
	}
}

func TestResume_AHaltedRollout_GoesOnWhereItWas(t *testing.T) {
	d := newDesk(t)
	d.publish("gateway-x/stable", "1.0.0").is(run.Done)
	d.does("resume", "gateway-x/stable", "--yes").is(run.Refused).warns("has never been a rollout")
	d.starts(0)
	d.does("halt", "gateway-x/stable").is(run.Done).says("halted 1.1.0 on gateway-x/stable at 1 %")
	d.does("resume", "gateway-x/stable").is(run.Misused)
	d.does("resume", "gateway-x/stable", "--yes", "--reason", "it was the network").is(run.Done).says("active at 1 %")
	d.does("resume", "gateway-x/stable").is(run.Done).says("is active")
	d.stands("active", 1)
}

func TestJSON_PrintsTheServicesDocuments(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	for _, args := range [][]string{{"status"}, {"status", "gateway-x/stable"}, {"whoami"}, {"log"}, {"boxes", "gateway-x/stable"},
		{"promote", "gateway-x/stable", "--yes"}, {"halt", "gateway-x/stable"}, {"halt", "gateway-x/stable"}} {
		r := d.does(append(args, "--json")...).is(run.Done)
		if r.err != "" || !json.Valid([]byte(strings.TrimSpace(r.out))) {
			t.Errorf("wavegate %q prints\n%s%s", args, r.out, r.err)
		}
	}
	var problem struct{ Code string }
	if d.does("start", "gateway-x/stable", "9.9.9",
		"--yes", "--json").is(run.Refused).into(&problem); problem.Code != "RELEASE_NOT_PUBLISHED" {
		t.Errorf("a refusal has the code %q", problem.Code)
	}
}
