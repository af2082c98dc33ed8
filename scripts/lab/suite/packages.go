package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// packages are the module's packages with tests, by the way they run.
type packages struct {
	// pure packages run no server and no other program, so Go's cache of test results tracks everything that they read.
	pure []string
	// processes are the others, except those with their own group.
	processes []string
	// goroutines are the pure packages that start goroutines themselves, except maintainers' tools.
	goroutines []string
	// stores are the packages that test their stored data.
	stores []string
	// rapid are the pure packages with property tests.
	rapid []string
}

// own are the packages that have their own group.
var own = []string{"wavegate/scripts/e2e", "wavegate/scripts/lab/proof", "wavegate/scripts/lab/clients", "wavegate/infra"}

// outside are the imports of tests that start servers or other programs.
var outside = regexp.MustCompile(`^(os/exec|wavegate/scripts/local/service|wavegate/scripts/e2e/harness)$`)

var startsGoroutine = regexp.MustCompile(`\bgo (func\b|\w+[\w.]*\()|\.Go\(func`)

// list asks go for the packages.
func list() (p packages, err error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,TestImports,XTestImports", "./...").Output()
	if err != nil {
		return p, fmt.Errorf("go list: %w", err)
	}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var one struct {
			ImportPath, Dir                    string
			GoFiles, TestGoFiles, XTestGoFiles []string
			TestImports, XTestImports          []string
		}
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return p, nil
		} else if err != nil {
			return p, err
		}
		if len(one.TestGoFiles)+len(one.XTestGoFiles) == 0 || slices.Contains(own, one.ImportPath) {
			continue
		}
		imports := slices.Concat(one.TestImports, one.XTestImports)
		if slices.Contains(imports, "wavegate/shared/testing/dynamotest") {
			p.stores = append(p.stores, one.ImportPath)
		}
		if slices.ContainsFunc(imports, outside.MatchString) {
			p.processes = append(p.processes, one.ImportPath)
			continue
		}
		p.pure = append(p.pure, one.ImportPath)
		if slices.Contains(imports, "pgregory.net/rapid") && !slices.Contains(imports, "wavegate/shared/testing/dynamotest") {
			p.rapid = append(p.rapid, one.ImportPath)
		}
		if strings.HasPrefix(one.ImportPath, "wavegate/scripts/lab/") {
			continue
		}
		for _, file := range one.GoFiles {
			text, err := os.ReadFile(filepath.Join(one.Dir, file))
			if err != nil {
				return p, err
			}
			if startsGoroutine.Match(text) {
				p.goroutines = append(p.goroutines, one.ImportPath)
				break
			}
		}
	}
}

// raced are the pure packages for the group "race detector": those that start no goroutines themselves.
func (p packages) raced() []string {
	return slices.DeleteFunc(slices.Clone(p.pure), func(name string) bool { return slices.Contains(p.goroutines, name) })
}

var testName = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// tagged are the calls that run the tests of packages that have files with the build tag full.
func (packages) tagged(directories ...string) [][]string {
	var calls [][]string
	for _, directory := range directories {
		files, _ := filepath.Glob(filepath.Join(directory, "*_test.go")) // the pattern is well formed
		var names []string
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || !strings.HasPrefix(string(text), "//go:build full\n") {
				continue
			}
			for _, match := range testName.FindAllStringSubmatch(string(text), -1) {
				names = append(names, match[1])
			}
		}
		calls = append(calls, goTest("-tags=full", "-count=1", "-timeout=1h", "-run=^("+strings.Join(names, "|")+")$", directory))
	}
	return calls
}

// properties are the calls that run property tests with more cases.
func (p packages) properties(checks int) [][]string {
	return [][]string{append(goTest(append([]string{"-count=1", "-timeout=1h"}, p.rapid...)...), fmt.Sprintf("-rapid.checks=%d", checks))}
}
