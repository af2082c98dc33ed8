// Command contractfuzz starts a service and checks it against the contract. schemathesis generates the requests from
// the contract: valid and invalid ones, as callers of every role, and sequences that follow its links.
// scripts/contract installs schemathesis and runs this command. For the Go fuzz targets of the parsers, see
// scripts/lab/fuzz/run.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"wavegate/shared/access/auth"
	"wavegate/shared/operations/table"
	"wavegate/shared/testing/conform"
)

const usage = `usage: scripts/contract fuzz [--examples N] [--seed S] [--role R]

  --examples N   the number of generated requests for each operation, role and mode; by default, 3. From
                 20 on, every role calls every operation, and tries every boundary of every value; otherwise,
                 only those that it may call
  --seed S       the seed of the requests; by default, 1. The same seed generates the same requests
  --role R       only one of %s

A long run is ./scripts/contract fuzz --examples 200 --seed $RANDOM.
`

// A caller is a role that makes requests. For the two roles that can change something, short runs also try every
// boundary of every value; for the others, only long runs do.
type caller struct {
	name, user string
	roles      []auth.Role
	coverage   bool
}

var callers = []caller{
	{"platform_owner", "olga", []auth.Role{auth.PlatformOwner}, true},
	{"production_engineer", "eric", []auth.Role{auth.ProductionEngineer}, true},
	{"organization_admin", "anna", []auth.Role{auth.OrganizationAdmin}, false},
	{"edge", "box-0017", []auth.Role{auth.Edge}, false},
	{"member", "mia", nil, false},
}

// organization is that of all callers.
const organization = "acme"

// long is the number of examples from which a run is a long one.
const long = 20

// phases are the phases of schemathesis. The modes run separately: together, schemathesis 4.32 uses values of the
// second in requests that it considers valid.
func (c caller) phases(mode string, examples int) string {
	phases := "fuzzing"
	if c.coverage || examples >= long {
		phases = "coverage,fuzzing"
	}
	if mode == "positive" {
		phases = "examples," + phases + ",stateful"
	}
	return phases
}

// may is a pattern of the ids that the contract gives to the operations that the caller may call. The contract has one of
// the copilot's for each method. Tests of roles and of isolation show what is refused.
func (c caller) may() string {
	var ids []string
	for _, op := range table.All {
		if (auth.Principal{OrganizationID: organization, Roles: c.roles}).Has(op.Roles...) {
			ids = append(ids, op.ID)
		}
	}
	return "^(" + strings.Join(ids, "|") + ")(-(get|post|put|patch|delete))?$"
}

func main() {
	examples := flag.Int("examples", 3, "")
	seed := flag.Int("seed", 1, "")
	role := flag.String("role", "", "")
	flag.Usage = func() {
		var names []string
		for _, c := range callers {
			names = append(names, c.name)
		}
		fmt.Fprintf(os.Stderr, usage, strings.Join(names, ", "))
	}
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	chosen := slices.DeleteFunc(slices.Clone(callers), func(c caller) bool { return *role != "" && c.name != *role })
	if len(chosen) == 0 || flag.NArg() > 0 || *examples < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(ctx, chosen, *examples, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "contract fuzz:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, chosen []caller, examples, seed int) error {
	t, err := startTarget(ctx)
	if err != nil {
		return err
	}
	defer t.stop()
	var failed []error
	for _, c := range chosen {
		for _, mode := range []string{"positive", "negative"} {
			if err := t.fuzz(ctx, c, mode, examples, seed); err != nil {
				failed = append(failed, fmt.Errorf("as %s, %s: %w", c.name, mode, err))
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return errors.Join(append(failed, t.faults())...)
}

// fuzz runs schemathesis once and prints its summary, or its whole output if it found anything.
func (t *target) fuzz(ctx context.Context, c caller, mode string, examples, seed int) error {
	bearer, err := t.service.Bearer(c.user, organization, c.roles...)
	if err != nil {
		return err
	}
	arguments := []string{
		"--config-file", t.config,
		"run", t.contract, "--url", t.service.URL, "--header", "Authorization: " + bearer,
		"--mode", mode, "--phases", c.phases(mode, examples), "--checks", "all",
		"--max-examples", strconv.Itoa(examples), "--seed", strconv.Itoa(seed),
		"--generation-database", "none", "--warnings", "off", "--no-color", "--suppress-health-check", "all"}
	if examples < long {
		arguments = append(arguments, "--include-operation-id-regex", c.may())
	}
	if mode == "negative" {
		// Its only parameter is a header with any text, so its requests are never invalid.
		arguments = append(arguments, "--exclude-operation-id", "get-freeze")
	}
	cmd := exec.CommandContext(ctx, os.Getenv("SCHEMATHESIS"), arguments...)
	cmd.Dir = t.scratch // where it keeps its own files
	out, err := cmd.CombinedOutput()
	if err != nil {
		fmt.Printf("%s\n", out)
		return err
	}
	fmt.Printf("as %s, %s data: %s\n", c.name, mode, closing(string(out)))
	return nil
}

// rewrite writes the contract for schemathesis. Of a range of a million characters,
// schemathesis makes a list for each text that it generates, so the range is written in another way. It is one that Python
// alone understands.
func (t *target) rewrite() error {
	const slow, fast = `[^\\x00-\U000E01EF\ud7ff-\uFFFF]`, `(?![\\x00-\U000E01EF])[\\s\\S]`
	text, err := os.ReadFile(filepath.Join(t.root, "shared/contract/openapi.yaml"))
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte(slow)) {
		return errors.New("the contract no longer has the range of characters " + slow)
	}
	return os.WriteFile(t.contract, bytes.ReplaceAll(text, []byte(slow), []byte(fast)), 0o600)
}

//go:embed schemathesis.toml
var checks string

// configure writes what schemathesis checks. An operation whose values depend on something that no schema can express may
// refuse a request that matches its schemas.
func (t *target) configure() error {
	checker, err := conform.New()
	if err != nil {
		return err
	}
	return os.WriteFile(t.config, fmt.Appendf(nil, `%s
[[operations]]
include-operation-id = ["%s"]
checks.positive_data_acceptance.expected-statuses = ["2xx", 304, 400, 401, 403, 404, 409, 412, 422, 429]
`, checks, strings.Join(checker.Dependent(), `", "`)), 0o600)
}

// closing is the last part of schemathesis's output: the number of requests, and the seed.
func closing(out string) string {
	_, end, _ := strings.Cut(out, "Test cases:")
	end = strings.ReplaceAll(strings.Trim(end, "= \n"), "=", "")
	return strings.Join(strings.Fields(end), " ")
}
