package main

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// counted has the limits of each call. A line has the operation and case, the requests, round trips, read units and
// write units, separated by tabs. A test checks it.
//
//go:embed counted.tsv
var counted string

// A limit is a line of the table.
type limit struct {
	Requests, Rounds int
	Read, Write      float64
}

// limits reads the table.
func limits() (map[string]limit, error) {
	all := map[string]limit{}
	for i, line := range strings.Split(strings.TrimSpace(counted), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 5 {
			return nil, fmt.Errorf("counted.tsv: line %d has %d columns", i+1, len(f))
		}
		if i == 0 {
			continue
		}
		requests, err1 := strconv.Atoi(f[1])
		rounds, err2 := strconv.Atoi(f[2])
		read, err3 := strconv.ParseFloat(f[3], 64)
		write, err4 := strconv.ParseFloat(f[4], 64)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return nil, fmt.Errorf("counted.tsv: line %d: %w", i+1, err)
		}
		all[f[0]] = limit{requests, rounds, read, write}
	}
	return all, nil
}
