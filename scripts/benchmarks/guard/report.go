package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// folder has the worlds that the table shows.
const folder = "scripts/benchmarks/guard/worlds"

// writeReport plays all worlds and writes the results of their rollouts as a table. Worlds with a file of results are
// not played again.
func writeReport(out *bufio.Writer, seeds int, results string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no worlds in " + folder + "; run this in the project's root")
	}
	fmt.Fprintf(out, reportText, len(files))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		list, err := resultsOf(file, filepath.Join(results, name+".jsonl"), seeds)
		if err != nil {
			return err
		}
		w, err := read(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %s | %d | %d | %s |\n", name, w.Boxes, len(list), summary(w, list))
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

const reportText = `The results of simulated rollouts in %d worlds. A world is a fleet with its plants and organizations, a release with its effects on boxes, and a policy. Each is a file in ` + "`scripts/benchmarks/guard/worlds`" + `, and ` + "`scripts/benchmarks/guard/README.md`" + ` explains how to read and write one. The code of the service decides what a box is told, what the service knows about it, the count, the verdict and the moves. The clock, the plants and the boxes are simulated.

*Good* and *perfect* worlds should complete, and the others should not. If boxes *cannot* take the release, the rollout should be held, with the cause named. *Hurt* are boxes that died, failed or fell back, once all that the world holds has happened, as a share of all boxes: the mean and the maximum of all fleets. The median time is that of the most frequent end; for held rollouts, it is the length of the world.

| world | boxes | fleets | completed | halted at 1, 10, 50, 100 | held | median time | hurt | most frequent reason |
|---|---|---|---|---|---|---|---|---|
`

// resultsOf reads the results of a world, or plays it.
func resultsOf(file, kept string, seeds int) (list []result, err error) {
	text, err := os.ReadFile(kept)
	if errors.Is(err, fs.ErrNotExist) {
		w, err := read(file)
		if err != nil {
			return nil, err
		}
		err = each(w, 1, seeds, func(r result) error {
			list = append(list, r)
			return nil
		})
		return list, err
	}
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(string(text))); ; {
		var r result
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kept, err)
		}
		list = append(list, r)
	}
}

// summary returns the cells of a row after the number of fleets.
func summary(w world, list []result) string {
	ends, reasons := map[string]int{}, map[string]int{}
	halted := map[int]int{}
	hurt, most := 0, 0
	for _, r := range list {
		ends[r.Outcome]++
		code, _, _ := strings.Cut(r.Reason, ":")
		reasons[code]++
		if r.Outcome == "halted" {
			halted[r.Stage]++
		}
		hurt, most = hurt+r.Hurt, max(most, r.Hurt)
	}
	var minutes []int
	for _, r := range list {
		if r.Outcome == frequent(ends) {
			minutes = append(minutes, r.Minutes)
		}
	}
	slices.Sort(minutes)
	share := func(n float64) string { return fmt.Sprintf("%.1f %%", 100*n/float64(w.Boxes)) }
	return fmt.Sprintf("%d | %d, %d, %d, %d | %d | %s | %s, %s | %s", ends["completed"], halted[1], halted[10], halted[50], halted[100], ends["held"],
		lasting(minutes[len(minutes)/2]), share(float64(hurt)/float64(len(list))), share(float64(most)), frequent(reasons))
}

// frequent returns the most frequent name.
func frequent(counts map[string]int) (name string) {
	for n, count := range counts {
		if name == "" || count > counts[name] || count == counts[name] && n < name {
			name = n
		}
	}
	return name
}

func lasting(minutes int) string {
	if minutes < 600 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h", (minutes+30)/60)
}
