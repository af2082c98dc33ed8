package main

import (
	"strings"

	"wavegate/shared/testing/expect"
)

// A group is a part of the suite that runs, is timed and fails as a whole.
type group struct {
	name, mode, says string
	// needs are programs. Without them the group is skipped. Any of the names with a | between them is enough.
	needs string
	// steps are commands, one after the other. Words with an @ stand for others; see replacer.
	steps []string
}

// The modes say how much of the suite runs. A group has one of the first three.
const (
	daily = ""     // what a change has to pass
	rest  = "rest" // what full adds to it
	long  = "long" // what a release adds to full; ./scripts/test sets the counts of a release, too
	full  = "full" // all but long
)

// races is the group that uses the most of all processors.
const races = "races"

// Three groups run at a time, in this order. Those that take the longest, or mostly wait, come early: at the end little runs beside them.
// Those that compile the same with settings of their own are apart, so that the second finds what the first has compiled, and so are those
// in which thousands of boxes have to keep to their times.
var groups = []group{
	{"end to end", daily, "the whole service with its real functions: every operation, role, refusal, race and README session; not run again if unchanged", "",
		[]string{"@test -parallel=8 -timeout=15m ./scripts/e2e"}},
	{"sources", daily, "gofmt, the linters with go vet, shellcheck", "", []string{"./scripts/check"}},
	{"packages", daily, "packages that run no server and no other program, without full a fifth of the cases of each property; unchanged ones are not run again", "", []string{"@test @short @pure"}},
	{"browser", rest, "the operator's page and the contract's page in a real browser", "chromium|chromium-browser|google-chrome npm",
		[]string{"./scripts/lab/browser/run"}},
	{"isolation", daily, "every operation by everyone who is not allowed to call it; 150 random histories are linearizable", "",
		[]string{"env PROOF_HISTORIES=100 PROOF_HISTORIES_BOXES=50 @test -count=1 -run=" + isolation + " ./scripts/lab/proof"}},
	{"boxes", rest, "boxes with SWUpdate, with DDI clients from crates.io, npm and PyPI, and with the shell client; a plant cache",
		"swupdate cargo npm dbus-daemon curl jq nginx|/usr/sbin/nginx",
		[]string{"@full -run=^Test(BoxClients|Client|Publication|SWUpdate)_ ./scripts/e2e", "@full -run=^Test(PlantCache|Program|ShellClient)_ ./scripts/box"}},
	{"stacks", daily, "templates; cdk-nag", "node npm", []string{"@test ./infra"}},
	{"processes", daily, "the local service, the command and the other tools, as processes", "", []string{"@test @worlds", "@test -count=1 @processes"}},
	{"contract", daily, "the contract's lint, and whether it would break a caller", "npm", []string{"./scripts/contract check"}},
	{races, rest, "the race detector on packages that start goroutines", "cc|gcc|clang", []string{"@race -skip=" + plays + " " + strings.Join(goroutines, " "), "@race -run=^TestRun_TheSameSeed_ " + simulator}},
	{"fleets", rest, "thousands of boxes over HTTP; each number and verdict is what the boxes know", "",
		[]string{"@full -run=^Test(Bell|Guard|Progress)_ ./scripts/local/fleet", "@full -run=^TestTable_ ./shared/ratelimit/lease"}},
	{"references", rest, "the tests of the store on Amazon's DynamoDB Local, with a fifth of the cases of each property in full", "javac npm",
		[]string{"@full -run=^TestReference_WithADataDirectory_ ./shared/testing/dynamolocal",
			"go build -o .dev/reference ./scripts/local/reference",
			".dev/reference @test -count=1 -timeout=30m" + expect.Long(" -short", "") + " -run=/^reference$ @stores",
			".dev/reference @full -run=Reference ./scripts/lab/proof"}},
	{"sam", rest, "a publication under the AWS SAM CLI", "docker sam javac npm", []string{"./scripts/lab/sam/run test"}},
	{"faults", rest, "calls under faults, also beside an old commit's functions; an upgrade and a rollback; killed processes; a restore; rows changed by hand", "",
		[]string{"@full -run=^TestTampered_ ./scripts/e2e", "@full -parallel=8 -timeout=" + expect.Long("30m", "4h") + " -skip=" + isolation + " ./scripts/lab/proof"}},
	{"synthesis", rest, "the stacks of every setting; cfn-lint", "npm", []string{"./scripts/synth"}},
	{"requests", rest, "calls made from the contract, valid and invalid ones, by each role", "python3", []string{"./scripts/contract fuzz"}},
	{"releases", rest, "the demo; a deploy's build, and what a changed word changes in it; sizes", "",
		[]string{"@full ./scripts/local/demo", "@full -run=^TestBuild_(AChangedWord|ByDefault|Command)_ ./scripts/local/service",
			"@full -run=^Test(Functions|Tick)_ ./scripts/lab/benchmarks/cost"}},
	{"clients", rest, "clients that are generated from the contract, in Go, Java, Python and TypeScript; one more generator; samples", "npm python3 javac mvn",
		[]string{"./scripts/contract clients", "@full ./scripts/lab/clients ./scripts/operator/dossier"}},
	{"properties", rest, "each property of the rules, 500 cases, in a long run 2,000", "",
		[]string{"@test -count=1 -timeout=1h @rapid -rapid.checks=" + expect.Long("500", "2000")}},
	{"zones", rest, "the time zone database as Python reads it, and whether there is a newer one", "python3",
		[]string{"go run ./scripts/lab/zones check", "@full -run=^TestZones_ ./shared/platform/zones"}},
	{"vulnerabilities", rest, "known faults of modules, from Go's vulnerability database", "", []string{"./scripts/check vulnerabilities"}},

	{"release", long, "a release twice, with the same bytes", "npm", []string{"@full -run=^TestRelease_ ./scripts/local/service"}},
	{"fuzz", long, "each parser of outside input for 30 s; other groups try the recorded inputs", "", []string{"./scripts/lab/fuzz/run 30s"}},
	{"lives", long, "2,000 random lives of a factory; each pair of moves of methods and machines at the same time, 200 times", "",
		[]string{"env LIVES=2000 RACE_ROUNDS=200 @test -count=1 -timeout=4h -run=^Test(Races|Recall_LivesOfAFactory)_ ./shared/production/method"}},
	{"race detector", long, "the same on the other packages of \"packages\", and whole rollouts", "cc|gcc|clang", []string{"@race @unraced", "@race -run=" + plays + " " + strings.Join(goroutines, " ")}},
}

// apart are groups of which one runs at a time: Docker makes network interfaces, and a page that a browser loads then does not
// arrive as a whole.
var apart = []string{"sam", "browser"}

// isolation matches the proofs of the group with this name; the group "faults" runs the others.
const isolation = "^(TestIsolation|TestHistories_OfOneChannel|TestHistories_OfOneBox)_"

// alone are the packages that have groups of their own.
var alone = []string{"wavegate/infra", "wavegate/scripts/e2e", "wavegate/scripts/lab/clients", "wavegate/scripts/lab/proof"}

// simulator plays whole fleets, which takes ten times as long with the race detector. Only the seeds of a world are played at the same
// time, so that the test of these is enough. Tests named in plays tick through whole rollouts or compare a store with its model, call by
// call, which only the group "race detector" does with it.
const (
	simulator = "wavegate/scripts/benchmarks/guard"
	plays     = "^Test(Guard_|Warnings_|Tick_TheCourse|Stores_AnswerLikeTheModel)"
)

// goroutines are the packages of the group "races". The group "race detector" runs all others, so it also finds races in a package that
// should be here.
var goroutines = []string{"wavegate/infra/recovery", "wavegate/scripts/box",
	"wavegate/scripts/local/storefront", "wavegate/shared/ratelimit", "wavegate/shared/access/token",
	"wavegate/shared/fleet/census", "wavegate/shared/platform/admission", "wavegate/shared/platform/dynamo"}
