package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

// files are a module with a test that passes and one that fails, and programs.
var files = map[string]string{
	"go.mod":           "module example\n\ngo 1.26\n",
	"a/a_test.go":      "package a\n\nimport \"testing\"\n\nfunc TestGood_Passes(t *testing.T) { t.Log(\"the good one's output\") }\n",
	"a/b_test.go":      "package a\n\nimport \"testing\"\n\nfunc TestBad_Fails(t *testing.T) { t.Error(\"the bad one's reason\") }\n",
	"skip/a_test.go":   "package skip\n\nimport \"testing\"\n\nfunc TestSkipped(t *testing.T) { t.Skip() }\n",
	"broken/b.go":      "package broken\n\nvar _ = undeclared\n",
	"broken/b_test.go": "package broken\n\nimport \"testing\"\n\nfunc TestBroken(t *testing.T) {}\n",
	"fails":            "#!/bin/sh\nprintf 'the reason'\nexit 1\n",
	"leaves":           "#!/bin/sh\necho 'the database is away'\nexit 77\n",
}

func TestRun_AGroup_HasItsResult(t *testing.T) {
	for _, c := range []struct {
		name      string
		ci        string
		needs     string
		steps     []string
		red       bool
		shows     []string
		showsNone string
	}{
		{name: "a test passes", steps: []string{"@test -run=Good ./a"},
			shows: []string{"ok        group", "\n1 passed, 0 failed\n"}, showsNone: "output"},
		{name: "a test fails", steps: []string{"@test ./a"}, red: true,
			shows: []string{"FAILED    group", "the bad one's reason", "\n1 passed, 1 failed\n"}, showsNone: "the good one's output"},
		{name: "no test runs", steps: []string{"@test -run=None ./a"}, red: true, shows: []string{"no test ran", "\n0 passed, 0 failed\n"}},
		{name: "a later step runs no test", steps: []string{"@test -run=Good ./a", "@test -run=None ./a"}, red: true,
			shows: []string{"no test ran"}},
		{name: "all tests skip", steps: []string{"@test ./skip"}, red: true, shows: []string{"no test ran"}},
		{name: "a test does not compile", steps: []string{"@test ./broken"}, red: true, shows: []string{"undefined: undeclared"}},
		{name: "a program fails", steps: []string{"./fails", "touch after"}, red: true, shows: []string{"the reason"}},
		{name: "a program does not exist", steps: []string{"./none"}, red: true, shows: []string{"./none"}},
		{name: "a step warns", steps: []string{"echo warning: it is old"}, shows: []string{"ok        group", "warning: it is old"}},
		{name: "a step leaves", steps: []string{"./leaves", "touch after"}, shows: []string{"skipped   group", "the database is away"}},
		{name: "a needed program is missing", needs: "sh none|nor-this", steps: []string{"touch after"},
			shows: []string{"skipped   group", "there is no none or nor-this"}},
		{name: "a needed program is missing in CI", ci: "true", needs: "none", steps: []string{"touch after"}, red: true,
			shows: []string{"FAILED    group", "there is no none"}},
		{name: "one of two names of a program is there", needs: "none|sh", steps: []string{"@test -run=Good ./a"}, shows: []string{"1 passed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("CI", c.ci)
			for name, text := range files {
				write(t, name, text)
			}
			write(t, ".dev/test/kept", "")
			var out bytes.Buffer
			groups := []group{{"group", daily, "", c.needs, c.steps}, {"other", daily, "", "", []string{"true"}}}
			err := run(t.Context(), strings.NewReplacer("@test", "go test -json"), groups, &out)
			expect.Equal(t, err != nil, c.red, "error %v", err)
			for _, text := range c.shows {
				expect.That(t, strings.Contains(out.String(), text), "it does not show %q:\n%s", text, &out)
			}
			if c.showsNone != "" && strings.Contains(out.String(), c.showsNone) {
				t.Errorf("it shows %q:\n%s", c.showsNone, &out)
			}
			expect.That(t, strings.Contains(out.String(), "ok        other"), "the other group did not run:\n%s", &out)
			if _, err := os.Stat("after"); err == nil {
				t.Error("the step after the last one ran")
			}
		})
	}
}

func TestRun_GroupsApart_DoNotMeet(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".dev/test/kept", "")
	var chosen []group
	for _, name := range apart {
		chosen = append(chosen, group{name, rest, "", "", []string{"mkdir begun", "sleep 0.3", "rmdir begun"}}) // the first fails if begun is there
	}
	var out bytes.Buffer
	err := run(t.Context(), strings.NewReplacer(), chosen, &out)
	expect.That(t, err == nil, "%v:\n%s", err, &out)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	expect.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
	expect.OK(t, os.WriteFile(name, []byte(text), 0o755))
}

func TestRun_CachedPackagesAndSkippedTests_AreCounted(t *testing.T) {
	r := &result{log: &bytes.Buffer{}, output: map[string][]string{}}
	for _, line := range []string{
		`{"Action":"pass","Package":"a","Test":"TestA"}`,
		`{"Action":"skip","Package":"a","Test":"TestFull"}`,
		`{"Action":"output","Package":"a","Output":"ok  \ta\t(cached)\n"}`,
		`{"Action":"output","Package":"b","Test":"TestB","Output":"it says (cached)\n"}`,
	} {
		r.line(line)
	}
	expect.Equal(t, []int{r.cached, r.passed, r.skipped}, []int{1, 1, 1}, "cached, passed and skipped")
}

func TestChoose_ReturnsWhatIsAskedFor(t *testing.T) {
	of := func(modes ...string) (names []string) {
		for _, g := range groups {
			if slices.Contains(modes, g.mode) {
				names = append(names, g.name)
			}
		}
		return names
	}
	for _, c := range []struct {
		arguments, want []string
		fault           string
	}{
		{arguments: nil, want: of(daily)},
		{arguments: []string{"rest"}, want: of(rest)},
		{arguments: []string{"full"}, want: of(daily, rest)},
		{arguments: []string{"long"}, want: of(daily, rest, long)},
		{arguments: []string{"fleets", "end to end"}, want: []string{"end to end", "fleets"}},
		{arguments: []string{"fleets", "fleet"}, fault: `"fleet"`},
		{arguments: []string{"fleets", "rest"}, fault: `"rest"`},
		{arguments: []string{""}, fault: `""`},
	} {
		t.Run(strings.Join(c.arguments, ","), func(t *testing.T) {
			chosen, err := choose(c.arguments)
			var names []string
			for _, g := range chosen {
				names = append(names, g.name)
			}
			expect.Equal(t, names, c.want, "got")
			if (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("error %v, want one with %s", err, c.fault)
			}
		})
	}
}

// TestGroups_EveryTest_IsInOne finds tests that no group runs: of packages, with the race detector, and those that need FULL.
func TestGroups_EveryTest_IsInOne(t *testing.T) {
	t.Chdir("../../..")
	words := expect.Value(replacer(groups))(t)
	pure := expect.Value(replacer(nil))(t).Replace(" @pure ") // without the group that runs the property tests
	for name := range strings.FieldsSeq(words.Replace("@rapid")) {
		expect.That(t, strings.Contains(pure, " "+name+" "), "nothing runs %s if the group \"properties\" is not chosen", name)
	}
	var plain, raced, full [][]string
	for _, g := range groups {
		for _, step := range g.steps {
			command := strings.Fields(words.Replace(step))
			expect.That(t, !strings.Contains(strings.Join(command, " "), "@"),
				"%s: there is an unknown word in %q", g.name, command)
			switch {
			case slices.Contains(command, "FULL=1"):
				full, plain = append(full, command), append(plain, command) // all tests of a package, or some by name
			case slices.Contains(command, "-race"):
				raced = append(raced, command)
			default:
				plain = append(plain, command)
			}
		}
	}
	runs := func(steps [][]string, name, test string) bool {
		return slices.ContainsFunc(steps, func(command []string) bool {
			at := slices.IndexFunc(command, func(a string) bool { return strings.HasPrefix(a, "-run=") })
			matches := at < 0 || test != "" && regexp.MustCompile(command[at][len("-run="):]).MatchString(test)
			local := "." + strings.TrimPrefix(name, "wavegate")
			return matches && (slices.Contains(command, name) || slices.Contains(command, local))
		})
	}
	const format = `{{.ImportPath}};{{.Dir}};{{join .TestGoFiles " "}} {{join .XTestGoFiles " "}}`
	out := expect.Value(exec.Command("go", "list", "-f", format, "./...").Output())(t)
	for _, name := range slices.Concat(alone, goroutines) {
		expect.That(t, strings.Contains("\n"+string(out), "\n"+name+";"), "there is no package %s", name)
	}
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSpace(line), ";")
		if strings.TrimSpace(part[2]) != "" && !runs(plain, part[0], "") {
			t.Errorf("no group runs the tests of %s", part[0])
		}
		if strings.Contains(pure, " "+part[0]+" ") && !runs(raced, part[0], map[string]string{simulator: "TestRun_TheSameSeed_GivesTheSame"}[part[0]]) {
			t.Errorf("no group runs %s with the race detector", part[0])
		}
		for file := range strings.FieldsSeq(part[2]) {
			for _, test := range fullTests(t, filepath.Join(part[1], file)) {
				expect.That(t, runs(full, part[0], test), "no group runs %s of %s with FULL", test, part[0])
			}
		}
	}
}

// fullTests are the tests of a file whose first statement is expect.Full. Nothing else may call it, so that none is missed.
func fullTests(t *testing.T, path string) (names []string) {
	t.Helper()
	text := expect.Value(os.ReadFile(path))(t)
	for _, match := range regexp.MustCompile(`func (Test\w+)\(t \*testing\.T\) \{\n\texpect\.Full\(t\)\n`).FindAllSubmatch(text, -1) {
		names = append(names, string(match[1]))
	}
	calls := bytes.Count(text, []byte("\texpect.Full("))
	expect.That(t, calls == len(names), "%s: expect.Full is called %d times, and begins %d tests", path, calls, len(names))
	return names
}
