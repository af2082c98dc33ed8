package command_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

// An emulator is a terminal. The command runs in it as a separate process, on a pseudo terminal.
type emulator struct {
	*testing.T
	cmd  *exec.Cmd
	file *os.File
	done chan error

	mu      sync.Mutex
	vt      vt10x.Terminal
	printed strings.Builder
}

// emulates starts the command in a terminal.
func (d *desk) emulates(columns, rows int, env []string, args ...string) *emulator {
	d.Helper()
	e := &emulator{T: d.T, done: make(chan error, 1), vt: vt10x.New(vt10x.WithSize(columns, rows))}
	e.cmd = exec.CommandContext(d.Context(), os.Args[0], args...)
	e.cmd.Env = append(append(os.Environ(), killedAt+"=0", "TERM=xterm", "WAVEGATE_CONFIG_DIR="+d.dir), env...) // step 0 never comes
	var err error
	if e.file, err = pty.StartWithSize(e.cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = e.file.Close() })
	go func() {
		for b := make([]byte, 4096); ; {
			n, err := e.file.Read(b)
			e.mu.Lock()
			_, _ = e.vt.Write(b[:n]) // it accepts everything
			e.printed.Write(b[:n])
			e.mu.Unlock()
			if err != nil {
				break // the process has ended
			}
		}
		e.done <- e.cmd.Wait()
	}()
	return e
}

// screen is what the terminal shows, one text per row.
func (e *emulator) screen() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rows()
}

func (e *emulator) rows() (list []string) {
	for _, row := range strings.Split(strings.TrimRight(e.vt.String(), "\n"), "\n") {
		list = append(list, strings.TrimRight(row, " "))
	}
	return list
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// exact reports whether the terminal shows exactly the last drawing: the terminal wrapped nothing, and nothing of an
// earlier drawing is left.
func (e *emulator) exact() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := e.printed.String()
	begun := strings.LastIndex(text, "\x1b[H")
	if begun < 0 {
		return false
	}
	drawn := strings.Split(text[begun:], "\r\n")
	columns, rows := e.vt.Size()
	shown := e.rows()
	if len(drawn) != rows {
		return false // it is still being drawn, or has another size
	}
	for i, row := range drawn {
		row = strings.TrimRight(escapes.ReplaceAllString(row, ""), " ")
		if len([]rune(row)) > columns || i < len(shown) && row != shown[i] || i >= len(shown) && row != "" {
			return false
		}
	}
	return true
}

// until waits until the screen meets a condition.
func (e *emulator) until(what string, is func(screen []string) bool) {
	e.Helper()
	for range 500 {
		if is(e.screen()) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	e.Fatalf("%s: the screen is\n%s\nafter %q", what, strings.Join(e.screen(), "\n"), e.printed.String())
}

// draws waits until the screen has a text, broken into lines or not, exactly one header, and nothing else.
func (e *emulator) draws(text string) {
	e.Helper()
	e.until("to show "+text, func(screen []string) bool {
		return e.exact() && headers(screen) == 1 && strings.Contains(joined(screen), text)
	})
}

func headers(screen []string) int { return strings.Count(joined(screen), "1.0.0 → 1.1.0") }

// joined is the text of a screen without its line breaks.
func joined(screen []string) string {
	return strings.Join(strings.Fields(strings.Join(screen, " ")), " ")
}

func (e *emulator) resize(columns, rows int) {
	e.Helper()
	e.mu.Lock()
	e.vt.Resize(columns, rows)
	e.mu.Unlock()
	expect.OK(e, pty.Setsize(e.file, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}))
}

func (e *emulator) press(keys string) {
	e.Helper()
	if _, err := io.WriteString(e.file, keys); err != nil {
		e.Fatal(err)
	}
}

// ends waits for the process to end, and compares its exit code.
func (e *emulator) ends(want int) {
	e.Helper()
	select {
	case err := <-e.done:
		exit, failed := errors.AsType[*exec.ExitError](err)
		if got := 0; failed && exit.ExitCode() != want || !failed && got != want {
			e.Fatalf("it ends with %v, want %d", err, want)
		}
	case <-time.After(20 * time.Second):
		e.Fatal("it does not end")
	}
}

// frames counts how often the whole screen was drawn.
func (e *emulator) frames() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Count(e.printed.String(), "\x1b[H")
}

func TestWatch_InATerminal_DrawsOnePicture_WhateverItsSize(t *testing.T) {
	d := newJudgedDesk(t)
	d.startsJudged(acting, 5)
	d.guardLooks()
	sentence := d.sentence()
	for _, columns := range []int{40, 80, 140} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			d := d.at(t)
			e := d.emulates(columns, 24, nil, "watch", "gateway-x/stable", "--every", "100ms")
			e.draws(sentence)
			for range 10 { // each key redraws the screen
				e.press("p")
				e.draws("promote in another terminal")
				e.press("x")
				e.until("to hide the note", func(screen []string) bool { return !strings.Contains(joined(screen), "in another terminal") })
			}
			e.draws(sentence)
			if n := e.frames(); n < 20 {
				t.Errorf("it was drawn %d times", n)
			}
			expect.That(t, strings.Contains(e.printed.String(), "\x1b[1mgateway-x/stable"), "nothing is bold")
			e.press("q")
			e.ends(run.Done)
			if n := headers(e.screen()); n != 1 || !strings.Contains(joined(e.screen()), "active at 1 %") {
				t.Errorf("it leaves %d headers:\n%s", n, strings.Join(e.screen(), "\n"))
			}
		})
	}
}

func TestWatch_InATerminal_FollowsItsSize_AndEndsWithASummary(t *testing.T) {
	d := newJudgedDesk(t)
	d.startsJudged(acting, 5)
	d.guardLooks()
	sentence := d.sentence()
	e := d.emulates(80, 24, []string{"NO_COLOR=1"}, "watch", "gateway-x/stable", "--every", "100ms")
	e.draws(sentence)
	for _, size := range [][2]int{{40, 24}, {140, 10}, {60, 30}, {40, 24}, {100, 24}} {
		e.resize(size[0], size[1])
		e.draws("active at 1 %")
		e.draws("quit")
	}
	e.draws(sentence)
	e.press("H")
	e.draws("press H again to halt 1.1.0 on gateway-x/stable")
	e.press("H")
	e.ends(run.Otherwise)
	text := joined(e.screen())
	for _, want := range []string{"halted at 1 % by olga", "wavegate resume gateway-x/stable", "the rollout was halted, at 1 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary does not say %q:\n%s", want, strings.Join(e.screen(), "\n"))
		}
	}
	expect.Equal(t, headers(e.screen()), 1, "headers that it leaves:")
	expect.That(t, !regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(e.printed.String()),
		"there is colour, and none is wanted")
}

func TestWatch_InATerminal_ThatIsDumb_OrIfLinesAreWanted_PrintsLines(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	for name, c := range map[string]struct{ env, args []string }{
		"a dumb terminal": {[]string{"TERM=dumb"}, nil},
		"plain":           {nil, []string{"--plain"}},
		"JSON":            {nil, []string{"--json"}},
	} {
		e := d.emulates(80, 24, c.env, slices.Concat([]string{"watch", "gateway-x/stable", "--every", "50ms"}, c.args)...)
		e.until(name, func(screen []string) bool { return strings.Contains(joined(screen), "gateway-x") })
		e.press("\x03")
		e.ends(run.Interrupted)
		expect.That(t, !strings.Contains(e.printed.String(), "\x1b"), "%s: it prints %q", name, e.printed.String())
	}
}

func TestWatch_ControlC_IsAnInterruption(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	e := d.emulates(80, 24, nil, "watch", "gateway-x/stable")
	e.draws("quit")
	e.press("\x03")
	e.ends(run.Interrupted)
}

// sentence is the guard's sentence about the rollout.
func (d *desk) sentence() string {
	d.Helper()
	p := d.Owner(d.T).Get(d.T, "/api/ota/rollouts/"+d.rollout()+"/progress").Is(d.T, http.StatusOK).Object(d.T)
	return p["guard"].(map[string]any)["sentence"].(string)
}

// TestStatus_InATerminal_BreaksNoWord: if it is too narrow for a table, each channel has lines of its own.
func TestStatus_InATerminal_BreaksNoWord(t *testing.T) {
	d := newJudgedDesk(t)
	d.startsJudged(acting, 5)
	d.guardLooks()
	for columns, want := range map[int]string{
		40:  "gateway-x/stable 1.0.0 → 1.1.0 ",
		80:  "gateway-x/stable 1.0.0 → 1.1.0 ",
		140: "CHANNEL VERSION STAGE SINCE INSTALLED GUARD HEALTH gateway-x/stable 1.0.0 → 1.1.0 1 % ",
	} {
		for _, args := range [][]string{{"status"}, {"status", "gateway-x/stable"}} {
			e := d.emulates(columns, 40, nil, args...)
			e.ends(run.Done)
			e.mu.Lock()
			rows := strings.Split(strings.TrimRight(escapes.ReplaceAllString(e.printed.String(), ""), "\r\n"), "\r\n")
			shown := e.rows()
			e.mu.Unlock()
			for i, row := range rows {
				if row = strings.TrimRight(row, " "); len([]rune(row)) > columns || shown[i] != row {
					t.Errorf("%d columns: %v prints %q, and the terminal shows %q", columns, args, row, shown[i])
				}
			}
			if len(args) == 1 && !strings.HasPrefix(joined(shown), want) || !strings.Contains(joined(shown), "gateway-x/stable 1.0.0 → 1.1.0") {
				t.Errorf("%d columns: %v shows\n%s", columns, args, strings.Join(shown, "\n"))
			}
		}
	}
}
