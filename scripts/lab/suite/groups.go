package main

import (
	"slices"
	"strings"
)

// A mode is how much of the suite runs.
type mode string

const (
	daily mode = ""     // what a change has to pass
	rest  mode = "rest" // what full adds to it
	full  mode = "full" // both
	long  mode = "long" // full, with the counts of a release
)

// A group is a part of the suite that runs, is timed and fails as a whole.
type group struct {
	name  string
	mode  mode // daily or rest
	says  string
	needs []program // without them it is skipped
	// steps are the commands, one after the other. A "go test" prints its results as JSON, which the suite
	// reads: it counts tests, and shows the output of those that fail.
	steps [][]string
	env   []string
	// yields is set for groups that make room for the longest group, which decides how long a run takes.
	yields bool
}

// A program that a group needs, and how to get it.
type program struct {
	names []string // any of them
	how   string
}

var (
	node       = program{[]string{"node"}, "apt-get install nodejs, brew install node"}
	npm        = program{[]string{"npm"}, "apt-get install npm, brew install node"}
	python     = program{[]string{"python3"}, "apt-get install python3-venv"}
	compiler   = program{[]string{"cc", "gcc", "clang"}, "apt-get install gcc"}
	jdk        = program{[]string{"javac"}, "apt-get install openjdk-17-jdk-headless"}
	chromium   = program{[]string{"chromium", "chromium-browser", "google-chrome"}, "apt-get install chromium, brew install chromium"}
	swupdate   = program{[]string{"swupdate"}, "apt-get install swupdate cpio openssl"}
	cargo      = program{[]string{"cargo"}, "rustup, apt-get install cargo-web rustc-web"}
	dbus       = program{[]string{"dbus-daemon"}, "apt-get install dbus python3-gi python3-aiohttp python3-venv"}
	curl       = program{[]string{"curl"}, "apt-get install curl"}
	jq         = program{[]string{"jq"}, "apt-get install jq, brew install jq"}
	nginx      = program{[]string{"nginx", "/usr/sbin/nginx"}, "apt-get install nginx"}
	docker     = program{[]string{"docker"}, "apt-get install docker.io"}
	samCommand = program{[]string{"sam"}, "pip install aws-sam-cli"}
)

// proof is the package with the proof tests; see its README.
const proof = "./scripts/lab/proof"

// groups lists the suite. Three groups run at a time, in this order; the longest come first.
func groups(p packages, m mode) []group {
	all := []group{
		{
			name: "end to end", says: "the whole service with its real functions: every operation, role, refusal, race and README session",
			steps: [][]string{goTest("-count=1", "-parallel=8", "-timeout=15m", "./scripts/e2e")},
		},
		{
			name: "sources", says: "gofmt, go vet, the linters, shellcheck",
			steps: [][]string{{"./scripts/check"}},
		},
		{
			name: "packages", says: "every package that runs no server and no other program; unchanged ones are not run again",
			steps: [][]string{goTest(p.pure...)},
		},
		{
			name: "isolation", says: "every operation by everyone who is not allowed to call it; 150 random histories are linearizable",
			env:   []string{"PROOF_HISTORIES=100", "PROOF_HISTORIES_BOXES=50"},
			steps: [][]string{goTest("-count=1", "-run=^(TestIsolation|TestHistories_OfOneChannel|TestHistories_OfOneBox)_", proof)},
		},
		{
			name: "stacks", says: "the stacks' templates and cdk-nag's findings; one synthesis of dev and of prod",
			needs: []program{node, npm},
			steps: [][]string{goTest("-count=1", "./infra"), {"./scripts/synth", "stages"}},
		},
		{
			name: "processes", says: "the local service, the command and the other tools, as processes",
			steps: [][]string{goTest(append([]string{"-count=1"}, p.processes...)...)},
		},
		{
			name: "races", says: "the race detector on the packages that start goroutines",
			needs: []program{compiler},
			steps: [][]string{goTest(append([]string{"-race"}, p.goroutines...)...)},
		},
		{
			name: "contract", says: "the contract's lint, and whether it would break a caller",
			needs: []program{npm},
			steps: [][]string{{"./scripts/contract", "check"}},
		},

		{
			name: "fleets", mode: rest, says: "fleets of thousands of boxes over HTTP, each number and verdict compared with the boxes' own; the demo; sizes and reproducible builds",
			steps: p.tagged("./scripts/local/fleet", "./scripts/local/demo", "./scripts/local/service", "./scripts/lab/benchmarks/cost"),
		},
		{
			name: "race detector", mode: rest, says: "the race detector on the other packages that run no other program",
			needs: []program{compiler},
			steps: [][]string{goTest(append([]string{"-race", "-timeout=20m"}, p.raced()...)...)},
		},
		{
			name: "sam", mode: rest, says: "one call of every operation and a tick under the AWS SAM CLI; the stacks of every setting",
			needs: []program{docker, samCommand, jdk, npm},
			steps: [][]string{{"./scripts/lab/sam/run", "test"}, {"./scripts/synth"}},
		},
		{
			name: "fuzz", mode: rest, says: "each parser of outside input for 10 s; calls made from the contract",
			needs: []program{python},
			steps: [][]string{{"./scripts/lab/fuzz/run", "10s"}, {"./scripts/contract", "fuzz"}},
		},
		{
			name: "references", mode: rest, says: "the tests of the store on Amazon's DynamoDB Local",
			needs: []program{jdk, npm},
			steps: append(p.tagged("./shared/testing/dynamolocal"),
				[]string{"go", "build", "-o", ".dev/reference", "./scripts/local/reference"},
				append([]string{".dev/reference"}, goTest(append([]string{"-count=1", "-timeout=30m", "-run=/^reference$"}, p.stores...)...)...),
				append([]string{".dev/reference"}, goTest("-count=1", "-timeout=30m", "-run=Reference", proof)...),
			),
		},
		{
			name: "faults", mode: rest, says: "calls under faults, also with an old commit's functions beside; an upgrade and a rollback; killed processes; restored tables",
			steps: append(p.tagged("./shared/operations"),
				goTest("-count=1", "-parallel=8", "-timeout=30m", "-skip=^(TestIsolation|TestHistories_OfOneChannel|TestHistories_OfOneBox)_", proof)),
		},
		{
			name: "boxes", mode: rest, says: "boxes with SWUpdate, with DDI clients from crates.io, npm and PyPI, and with the shell client; a plant cache",
			needs: []program{swupdate, cargo, npm, dbus, curl, jq, nginx},
			steps: p.tagged("./scripts/e2e", "./scripts/box"),
		},
		{
			name: "browser", mode: rest, says: "the operator's page and the contract's page in a real browser",
			needs: []program{chromium, npm},
			steps: [][]string{{"./scripts/lab/browser/run"}},
		},
		{
			name: "clients", mode: rest, says: "clients that are generated from the contract, in Go, Python and TypeScript",
			needs: []program{npm, python},
			steps: [][]string{{"./scripts/contract", "clients"}, goTest("-count=1", "./scripts/lab/clients")},
		},
		{
			name: "properties", mode: rest, says: "every property of the rules with 1,000 random cases",
			steps: p.properties(1000),
		},
	}
	for i := range all {
		all[i].yields = all[i].mode == daily && i > 0
	}
	return slices.DeleteFunc(all, func(g group) bool { return m == daily && g.mode == rest || m == rest && g.mode == daily })
}

// goTest returns a call of go test with output that the suite can read.
func goTest(arguments ...string) []string {
	return append([]string{"go", "test", "-json"}, arguments...)
}

// usage is the output of -h.
func usage() string {
	var b strings.Builder
	b.WriteString("Checks the sources and runs the tests.\n\n" +
		"  ./scripts/test         what a change has to pass\n" +
		"  ./scripts/test full    everything\n" +
		"  ./scripts/test rest    only what full adds\n" +
		"  ./scripts/test long    everything, with the counts of a release; takes hours\n" +
		"  ./scripts/test GROUP…  only the named groups\n")
	for _, m := range []mode{daily, rest} {
		b.WriteString(map[mode]string{daily: "\n./scripts/test runs:\n", rest: "\nfull adds:\n"}[m])
		for _, g := range groups(packages{}, m) {
			b.WriteString("  " + g.name + strings.Repeat(" ", max(1, 15-len(g.name))) + g.says + "\n")
		}
	}
	b.WriteString("\nA group that needs a missing program is skipped, and a line says so. With CI=true, that is a failure.\n" +
		"The output of each group is kept in .dev/test.\n")
	return b.String()
}
