package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A board shows what runs, what is done and what is left: a line for each group that ends and, on a terminal, a
// last line that moves.
type board struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	waiting  []string
	running  map[string]time.Time
	stop     chan struct{}
}

func newBoard(out *os.File, all []group) *board {
	info, err := out.Stat()
	b := &board{out: out, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0, running: map[string]time.Time{}, stop: make(chan struct{})}
	for _, g := range all {
		b.waiting = append(b.waiting, g.name)
	}
	if b.terminal {
		go b.redraw()
	}
	return b
}

func (b *board) redraw() {
	for {
		select {
		case <-b.stop:
			return
		case <-time.After(time.Second):
			b.mu.Lock()
			b.status()
			b.mu.Unlock()
		}
	}
}

// clear begins the last line of a terminal again.
const clear = "\r\x1b[K"

// status draws the last line of a terminal.
func (b *board) status() {
	if !b.terminal || len(b.running) == 0 {
		return
	}
	var parts []string
	for name, since := range b.running {
		parts = append(parts, fmt.Sprintf("%s %d s", name, int(time.Since(since).Seconds())))
	}
	slices.Sort(parts)
	line := "runs: " + strings.Join(parts, ", ")
	if len(b.waiting) > 0 {
		line += "; left: " + strings.Join(b.waiting, ", ")
	}
	if len(line) > 79 {
		line = line[:76] + "..."
	}
	_, _ = fmt.Fprint(b.out, clear+line)
}

func (b *board) starts(g group) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = slices.DeleteFunc(b.waiting, func(name string) bool { return name == g.name })
	b.running[g.name] = time.Now()
	if !b.terminal {
		_, _ = fmt.Fprintf(b.out, "runs      %s\n", g.name)
	}
	b.status()
}

func (b *board) ends(r result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.running, r.name)
	if b.terminal {
		_, _ = fmt.Fprint(b.out, clear)
	}
	left := ""
	if !b.terminal && len(b.waiting) > 0 {
		left = "; left: " + strings.Join(b.waiting, ", ")
	}
	_, _ = fmt.Fprintf(b.out, "%-9s %s%s\n", r.state(), r.line(), left)
	if r.err != nil && r.shows != "" {
		_, _ = fmt.Fprintf(b.out, "\n%s\n", strings.TrimSpace(r.shows))
	}
	b.status()
}

func (b *board) close() { close(b.stop) }

func (r result) state() string {
	switch {
	case r.err != nil:
		return "FAILED"
	case r.leftOut != "":
		return "left out"
	}
	return "ok"
}

func (r result) line() string {
	switch {
	case r.leftOut != "":
		return fmt.Sprintf("%s: %s", r.name, r.leftOut)
	case r.err != nil:
		return fmt.Sprintf("%s after %s: %v; all output: %s", r.name, seconds(r.took), r.err, r.log)
	}
	return fmt.Sprintf("%s, %s", r.name, seconds(r.took))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// summary prints one table of all groups, and returns the exit code.
func (b *board) summary(results []result, took time.Duration) int {
	_, _ = fmt.Fprintf(b.out, "\n%-15s %-9s %8s %7s %7s %7s\n", "group", "result", "seconds", "tests", "failed", "cached")
	var slow []timed
	var passed, failed, groupsFailed int
	for _, r := range results {
		_, _ = fmt.Fprintf(b.out, "%-15s %-9s %8.0f %7d %7d %7d\n", r.name, r.state(), r.took.Seconds(), r.passed+r.failed, r.failed, r.cached)
		slow = append(slow, r.slow...)
		passed, failed = passed+r.passed, failed+r.failed
		if r.err != nil {
			groupsFailed++
		}
	}
	if len(slow) > 0 {
		_, _ = fmt.Fprintf(b.out, "\ntests of %s or more:\n", seconds(slowTest))
		for _, t := range slowest(slow) {
			_, _ = fmt.Fprintf(b.out, "%6.0f s  %s\n", t.took.Seconds(), t.name)
		}
	}
	_, _ = fmt.Fprintf(b.out, "\n%d groups in %s; %d failed\n%d passed, %d failed\n", len(results), took.Round(time.Second), groupsFailed, passed, failed)
	if groupsFailed > 0 {
		return 1
	}
	return 0
}
