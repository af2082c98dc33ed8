package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// A board shows which groups run, are done and are left, with a line for each beginning and end.
type board struct {
	mu      sync.Mutex
	out     io.Writer
	waiting []string
}

func newBoard(out io.Writer, all []group) *board {
	b := &board{out: out}
	for _, g := range all {
		b.waiting = append(b.waiting, g.name)
	}
	return b
}

func (b *board) starts(g group) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = slices.DeleteFunc(b.waiting, func(name string) bool { return name == g.name })
	_, _ = fmt.Fprintf(b.out, "running   %s\n", g.name)
}

func (b *board) ends(r result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := ""
	if len(b.waiting) > 0 {
		left = "; left: " + strings.Join(b.waiting, ", ")
	}
	_, _ = fmt.Fprintf(b.out, "%-9s %s%s\n", r.state(), r.line(), left)
	if r.err != nil && r.shows != "" {
		_, _ = fmt.Fprintf(b.out, "\n%s\n", strings.TrimSpace(r.shows))
	}
}

func (r result) state() string {
	switch {
	case r.err != nil:
		return "FAILED"
	case r.leftOut != "":
		return "skipped"
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
