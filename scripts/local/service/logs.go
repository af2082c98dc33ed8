package service

import (
	"slices"
	"sync"
)

const keptLines = 20_000

type logs struct {
	forward func(function, line string)

	mu    sync.Mutex
	lines map[string][]string
}

func (l *logs) add(function, line string) {
	l.mu.Lock()
	if l.lines == nil {
		l.lines = map[string][]string{}
	}
	kept := append(l.lines[function], line)
	if len(kept) > keptLines {
		kept = slices.Clone(kept[len(kept)-keptLines/2:])
	}
	l.lines[function] = kept
	l.mu.Unlock()
	if l.forward != nil {
		l.forward(function, line)
	}
}

func (l *logs) of(function string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines[function])
}
