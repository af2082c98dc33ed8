package command_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"wavegate/scripts/operator/command"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/tokenfile"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/testing/expect"
)

// killedAt is the environment variable that makes the test binary run the command and kills it before that step. The
// steps are changes to files, and registering calls: before they are sent, and after their answer.
const killedAt = "WAVEGATE_TEST_KILLED_AT"

func TestMain(m *testing.M) {
	if at, err := strconv.Atoi(os.Getenv(killedAt)); err == nil {
		os.Exit(runs(at))
	}
	os.Exit(m.Run())
}

// A killer ends the process before a step.
type killer struct{ at, steps int }

func (k *killer) step() error {
	if k.steps++; k.steps == k.at {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return nil
}

func (k *killer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return http.DefaultTransport.RoundTrip(r)
	}
	if err := k.step(); err != nil {
		return nil, err
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	return res, errors.Join(err, k.step())
}

func runs(at int) int {
	k := &killer{at: at}
	e := run.Process()
	e.HTTP.Transport, e.Disk.Before = k, func(string, string) error { return k.step() }
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	return command.Run(ctx, os.Args[1:], e)
}

// killed runs the command in its own process, and reports whether it was killed before the step.
func (d *desk) killed(at int, args ...string) bool {
	d.Helper()
	cmd := exec.CommandContext(d.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), fmt.Sprint(killedAt, "=", at), "WAVEGATE_CONFIG_DIR="+d.dir)
	out, err := cmd.CombinedOutput()
	exit, ended := errors.AsType[*exec.ExitError](err)
	killed := ended && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	if err != nil && !killed {
		d.Fatalf("step %d: %v %s", at, err, out)
	}
	if strings.Contains(string(out), string(boxtoken.Box)) {
		d.Errorf("step %d: a token was said", at)
	}
	return killed
}

// kept fails if a box has a token that its file does not have.
func (d *desk) kept(dir string, ids ...string) {
	d.Helper()
	for _, id := range ids {
		registered := expect.Value(d.Owner(d.T).Try(http.MethodGet, "/api/edges/"+id, ""))(d)
		if strings.Contains(string(registered.Body), "tokenSetAt") {
			text, _, err := tokenfile.Read(filepath.Join(dir, tokenfile.Name(id)), id)
			if err != nil {
				d.Fatalf("%s has a token: %v", id, err)
			}
			d.polls(id, text)
		}
	}
}

// everyStep runs a command for other boxes each time, until nothing stops it any more: first before its first step, then
// before its second, and so on. The command has at least so many steps.
func (d *desk) everyStep(steps int, stopped func(at int, ids []string) bool) {
	d.Helper()
	at := 1
	for stopped(at, []string{fmt.Sprintf("a:%d", at), fmt.Sprintf("b:%d", at)}) {
		at++
	}
	if at <= steps {
		d.Errorf("only %d steps were seen", at-1)
	}
}

// registering is a command that registers boxes with tokens in a directory.
func (d *desk) registering(dir string, ids ...string) []string {
	return []string{"register", d.file("boxes.csv", csvOf(ids)), "--make-tokens", dir, "--yes"}
}

// in is a directory of the desk with a number.
func (d *desk) in(name string, at int) string { return filepath.Join(d.dir, fmt.Sprint(name, "-", at)) }

// TestMakeTokens_KilledBeforeAnyStep_NoBoxHasATokenWithoutItsFile, and the same command continues from there.
func TestMakeTokens_KilledBeforeAnyStep_NoBoxHasATokenWithoutItsFile(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.everyStep(19, func(at int, ids []string) bool { // two files in a new directory, and one call
		dir := d.in("tokens", at)
		args := d.registering(dir, ids...)
		if !d.killed(at, args...) {
			return false
		}
		d.kept(dir, ids...)
		d.does(args...).is(run.Done)
		d.allPoll(d.secrets(dir))
		return true
	})
}

// TestMakeTokens_AFileThatCannotBeWritten_EndsItBeforeTheCall, and leaves no draft.
func TestMakeTokens_AFileThatCannotBeWritten_EndsItBeforeTheCall(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	full := errors.New("no space left on device")
	d.everyStep(17, func(at int, ids []string) bool {
		dir := d.in("tokens", at)
		args := d.registering(dir, ids...)
		steps, failed, w := 0, "", d.listens()
		d.disk.Before = func(step, _ string) error {
			if steps++; steps == at {
				failed = step
				return full
			}
			return nil
		}
		r := d.does(args...)
		d.disk.Before = nil
		if failed == "" {
			r.is(run.Done)
			return false
		}
		r.is(run.Refused).warns(full.Error())
		expect.That(t, w.calls["POST /api/edges"] == 0, "step %d, %s: the boxes were registered", at, failed)
		if left, err := filepath.Glob(filepath.Join(dir, ".draft-*")); err != nil || len(left) > 0 && failed != "remove" {
			t.Errorf("step %d, %s: it leaves %v, %v", at, failed, left, err)
		}
		d.does(args...).is(run.Done)
		d.kept(dir, ids...)
		return true
	})
}

// TestMakeTokens_EachFileIsOnTheDisk_BeforeItsHashIsSent: even after a power failure, each token has its file.
func TestMakeTokens_EachFileIsOnTheDisk_BeforeItsHashIsSent(t *testing.T) {
	d := newDesk(t)
	dir := filepath.Join(d.dir, "tokens")
	var steps []string
	d.disk.Before = func(step, path string) error {
		if path != dir {
			path = "file"
		}
		steps = append(steps, step+" "+filepath.Base(path))
		return nil
	}
	d.seen = func(r *http.Request) error {
		if r.Method == http.MethodPost {
			steps = append(steps, "send")
		}
		return nil
	}
	args := d.registering(dir, "box-0001")
	d.does(args...).is(run.Done)
	file := "create tokens, write file, sync file, link file, remove file, "
	expect.Equal(t, strings.Join(steps, ", "), "mkdir tokens, "+file+"sync file, "+file+"sync tokens, send", "the steps are")
	steps = nil
	d.does(args...).is(run.Done)
	expect.Equal(t, strings.Join(steps, ", "), "mkdir tokens, sync file, sync tokens, send", "the steps of a second run are")
}
