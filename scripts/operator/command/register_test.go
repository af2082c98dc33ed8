package command_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

// calls counts the batches that are sent.
func (d *desk) counts(batches *int) {
	d.seen = func(r *http.Request) error {
		if r.Method == http.MethodPost && r.URL.Path == "/api/edges" {
			*batches++
		}
		return nil
	}
}

func TestRegister_AFile_InBatches_AndAgain(t *testing.T) {
	d := newDesk(t)
	file, batches := d.file("boxes.csv", csv(100)), 0
	d.counts(&batches)
	d.does("register", file).is(run.Misused).warns("Register 100 boxes: 100 on gateway-x/stable?", "--yes")
	d.does("register", file, "--yes").is(run.Done).says("100 boxes registered, 0 moved or changed, 0 unchanged").warns("100 of 100 boxes")
	expect.Equal(t, batches, 4, "calls:")
	d.does("register", file, "--yes").is(run.Done).says("0 boxes registered, 0 moved or changed, 100 unchanged")
	moved := strings.Replace(csv(100), "box-0007,gateway-x,stable", "box-0007,gateway-x,canary", 1)
	d.does("register", d.file("moved.csv", moved), "--yes", "--json").is(run.Done).says(`"reassigned":1`, `"unchanged":99`)
	d.does("boxes", "gateway-x/canary").is(run.Done).says("box-0007")
}

func TestRegister_BadLines_AreNamed_AndNothingIsSent(t *testing.T) {
	d := newDesk(t)
	batches := 0
	d.counts(&batches)
	file := d.file("boxes.csv", "channel,edgeId,edgeType,organizationId,factoryId\n"+
		"stable,box-1,gateway-x,acme,\n"+
		"stable,box 2,gateway-x,acme,Munich\n"+
		"stable,box-1,gateway-x,acme,\n"+
		"stable,box-4,gateway-x\n"+
		"stable,\"box-5\"x,gateway-x,acme,\n"+
		"stable,box-6,gateway-x,acme,munich-1\n")
	d.does("register", file, "--yes").is(run.Refused).warns("line 3: edgeId must be 1 to 128", "line 3: factoryId must be",
		"line 4: edgeId box-1 is already in line 2", "line 5: organizationId", "line 6: ", "5 lines have errors; nothing was sent")
	for name, text := range map[string]string{"no columns": "box-1,gateway-x\n",
		"a column too many": "edgeId,edgeType,channel,organizationId,colour\n",
		"nothing":           "", "no boxes": "edgeId,edgeType,channel,organizationId\n"} {
		t.Run(name, func(t *testing.T) { d.at(t).does("register", d.file("other.csv", text), "--yes").is(run.Misused) })
	}
	d.does("register", filepath.Join(d.dir, "none.csv"), "--yes").is(run.Misused)
	expect.Equal(t, batches, 0, "calls:")
}

func TestRegister_Attributes_AreSetFoundAndWrittenAsTheyWereRead(t *testing.T) {
	d := newDesk(t)
	file := d.file("boxes.csv", "edgeId,edgeType,channel,organizationId,attributes\n"+
		"box-1,gateway-x,stable,acme,board=C; modem=LTE\n"+
		"box-2,gateway-x,stable,acme,\"board=B\nnote=a;b\"\n"+
		"box-3,gateway-x,stable,acme,\n")
	d.does("register", file, "--yes").is(run.Done).says("3 boxes registered")
	d.does("boxes", "gateway-x/stable", "--attribute", "board=C").is(run.Done).says("box-1").not("box-2")
	r := d.does("boxes", "gateway-x/stable", "--csv").is(run.Done).says("board=C; modem=LTE", `"{""board"":""B"",""note"":""a;b""}"`)
	d.does("register", d.file("again.csv", r.out), "--yes").is(run.Done).says("3 unchanged")
	d.does("box", "set", "box-1", "--attribute", "board=D", "--yes").is(run.Done)
	d.does("box", "show", "box-1").is(run.Done).says("board", "D").not("LTE")
	d.does("box", "set", "box-1", "--attribute", "", "--yes").is(run.Done)
	d.does("box", "show", "box-1").is(run.Done).not("board")
	d.does("box", "set", "box-1", "--attribute", "board", "--yes").is(run.Misused).warns("NAME=VALUE")
	d.does("register", d.file("bad.csv", "edgeId,edgeType,channel,organizationId,attributes\nbox-4,gateway-x,stable,acme,a b=C\n"), "--yes").
		is(run.Refused).warns("line 2: attributes/a b must have a name of 1 to 32")
}

func TestRegister_BoxesThatTheServiceRefuses_AreNamed_AndTheOthersAreSent(t *testing.T) {
	d := newDesk(t)
	d.Owner(t).Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich"}`).Is(t, http.StatusCreated)
	var b strings.Builder
	b.WriteString("edgeId,edgeType,channel,organizationId,factoryId\n")
	for i := range 40 {
		factory := "munich-1"
		if i == 3 || i == 35 {
			factory = "nowhere"
		}
		fmt.Fprintf(&b, "box-%d,gateway-x,stable,acme,%s\n", i, factory)
	}
	d.does("register", d.file("boxes.csv", b.String()), "--yes").is(run.Refused).
		says("38 boxes registered").warns("line 5: factoryId must be a factory of organization acme", "line 37: factoryId",
		"2 lines have errors; all others were sent")
}

func TestRegister_Interrupted_GoesOn(t *testing.T) {
	d := newDesk(t)
	file, batches := d.file("boxes.csv", csv(200)), 0
	ctx, cancel := context.WithCancel(t.Context())
	d.seen = func(r *http.Request) error {
		if r.Method != http.MethodPost {
			return nil
		}
		if batches++; batches == 3 {
			cancel()
		}
		return nil
	}
	d.runs(ctx, "register", file, "--yes").is(run.Interrupted).warns("60 of 200 boxes were sent")
	batches = 0
	d.counts(&batches)
	d.does("register", file).is(run.Done).warns("continuing after line 61").says("boxes registered")
	if batches != 5 { // 140 boxes
		t.Errorf("%d calls to go on, want 5", batches)
	}
	left, err := filepath.Glob(filepath.Join(d.dir, "cache", "register-*"))
	expect.That(t, err == nil && len(left) == 0, "what is left: %v, %v", left, err)
	page := d.Owner(t).Get(t, "/api/edges?organizationId=acme&limit=100&offset=100").Object(t)
	expect.That(t, len(page["items"].([]any)) == 100 && page["next"] == nil, "not all 200 boxes are registered")
	expect.OK(t, os.WriteFile(file, []byte(csv(1)), 0o600))
	d.does("register", file).is(run.Misused).warns("Register 1 box:") // another file starts over
}
