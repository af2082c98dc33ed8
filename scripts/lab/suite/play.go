package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A result of a group.
type result struct {
	group
	took           time.Duration
	leftOut        string // why
	passed, failed int    // tests
	cached         int    // packages with results from Go's cache
	slow           []timed
	log            string // the file with all output
	err            error
	shows          string // the output to show after a failure
}

// A timed test is a slow one.
type timed struct {
	name string
	took time.Duration
}

// slowTest is the time from which the summary names a test.
const slowTest = 5 * time.Second

// play runs the steps of a group until one fails.
func play(ctx context.Context, g group) (r result) {
	r = result{group: g, log: filepath.Join(".dev", "test", strings.ReplaceAll(g.name, " ", "-")+".log")}
	if r.leftOut = g.missing(); r.leftOut != "" {
		if os.Getenv("CI") == "true" {
			r.err = errors.New(r.leftOut)
		}
		return r
	}
	log, err := os.Create(r.log)
	if err != nil {
		r.err = err
		return r
	}
	defer log.Close()
	began := time.Now()
	defer func() { r.took = time.Since(began) }()
	for _, step := range g.steps {
		if r.step(ctx, log, step); r.err != nil {
			return r
		}
	}
	return r
}

// step runs a command. It writes the output to the log, and keeps the useful part to show after a failure.
func (r *result) step(ctx context.Context, log io.Writer, step []string) {
	_, _ = fmt.Fprintln(log, "$", strings.Join(step, " "))
	if r.yields {
		step = append([]string{"nice", "-n", "5"}, step...)
	}
	cmd := exec.CommandContext(ctx, step[0], step[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	cmd.Env = append(os.Environ(), r.env...)
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	show := newShow(r)
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewReader(read)
		for {
			line, err := lines.ReadString('\n')
			if line != "" {
				show.line(log, line)
			}
			if err != nil {
				return
			}
		}
	}()
	err := cmd.Run()
	_ = write.Close() // closing a pipe cannot fail
	<-done
	if err != nil {
		r.err, r.shows = fmt.Errorf("%s: %w", strings.Join(step[:min(len(step), 4)], " "), err), show.failure()
	}
}

// A show reads the output of a command: events of go test -json, and plain lines.
type show struct {
	r      *result
	plain  []string            // the last lines that are not events
	output map[string][]string // of each test that has not passed
	failed []string
}

func newShow(r *result) *show { return &show{r: r, output: map[string][]string{}} }

// An event of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// mostLines is the most lines that are shown of one failure.
const mostLines = 120

func (s *show) line(log io.Writer, line string) {
	var e event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		_, _ = io.WriteString(log, line)
		if !strings.HasPrefix(line, "go: downloading ") {
			s.plain = append(s.plain[max(0, len(s.plain)+1-mostLines):], line)
		}
		return
	}
	_, _ = io.WriteString(log, e.Output)
	name := e.Package + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		s.output[name] = append(s.output[name], e.Output)
		if e.Test == "" && strings.Contains(e.Output, "(cached)") {
			s.r.cached++
		}
	case "pass":
		delete(s.output, name)
		if e.Test == "" {
			return
		}
		s.r.passed++
		if took := time.Duration(e.Elapsed * float64(time.Second)); took >= slowTest && !strings.Contains(e.Test, "/") {
			s.r.slow = append(s.r.slow, timed{name, took})
		}
	case "fail":
		if e.Test != "" {
			s.r.failed++
		}
		s.failed = append(s.failed, name)
	}
}

// failure returns the output of the failed tests, and the last plain lines.
func (s *show) failure() string {
	var b strings.Builder
	for _, name := range s.failed {
		lines := s.output[name]
		if len(lines) > mostLines {
			b.WriteString(fmt.Sprintf("(%d lines more in %s)\n", len(lines)-mostLines, s.r.log))
			lines = lines[len(lines)-mostLines:]
		}
		b.WriteString(strings.Join(lines, ""))
	}
	for name, lines := range s.output {
		if strings.HasSuffix(name, " ") && !slices.Contains(s.failed, name) && strings.Contains(strings.Join(lines, ""), "FAIL") {
			b.WriteString(strings.Join(lines, ""))
		}
	}
	b.WriteString(strings.Join(s.plain, ""))
	return b.String()
}

func slowest(all []timed) []timed {
	slices.SortFunc(all, func(a, b timed) int { return cmp.Compare(b.took, a.took) })
	return all
}
