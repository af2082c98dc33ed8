// Command command restores a deployment's tables to a moment; see scripts/restore.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"wavegate/infra/recovery"
	"wavegate/infra/recovery/ledger"
	"wavegate/shared/platform/dynamo"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "restore:", err)
		os.Exit(1)
	}
}

// options are what the command is asked for.
type options struct {
	stage          string
	at             time.Time
	check, backups bool
	from           recovery.Names
	empty          map[dynamo.TableID]bool
}

func parse(args []string) (o options, err error) {
	o.from, o.empty = recovery.Names{}, map[dynamo.TableID]bool{}
	flags := flag.NewFlagSet("restore", flag.ContinueOnError)
	flags.StringVar(&o.stage, "stage", "", "the deployment")
	moment := flags.String("at", "", "the moment, RFC 3339")
	flags.BoolVar(&o.check, "check", false, "only compare tables that are restored already with their audit trail")
	flags.BoolVar(&o.backups, "backups", false, "the tables were restored from backups under their new names: complete and compare them")
	flags.Func("from", "a table to restore instead of the one in use, `table=NAME`; may be repeated", func(text string) error {
		id, name, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return errors.New("give table=NAME")
		}
		o.from[dynamo.TableID(id)] = name
		return known(id)
	})
	flags.Func("empty", "with --backups, a `table` that has no backup because it is newer; may be repeated", func(id string) error {
		o.empty[dynamo.TableID(id)] = true
		return known(id)
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.at, err = time.Parse(time.RFC3339, *moment); err != nil || o.stage == "" {
		return o, errors.New("give --stage, and --at as 2026-11-22T09:30:00Z")
	}
	if o.check && o.backups || len(o.empty) > 0 && !o.backups {
		return o, errors.New("give --check or --backups, which also compares; --empty goes with --backups")
	}
	return o, nil
}

func run(ctx context.Context, args []string, tables io.Reader, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	inUse, bucket, err := read(tables, o.stage)
	if err != nil {
		return err
	}
	names := maps.Clone(inUse)
	maps.Copy(names, o.from)
	plan, err := recovery.Plan(o.stage, names, o.at)
	if err != nil {
		return err
	}
	client := dynamo.NewClient()
	switch {
	case o.check:
	case o.backups:
		for i, t := range plan {
			plan[i].Empty = t.Empty || o.empty[t.ID]
		}
		err = complete(ctx, aws{client: client}, plan, o.at)
	default:
		err = bringBack(ctx, aws{client: client}, plan, o.at, out)
	}
	if err != nil {
		return err
	}
	restored := recovery.Restored(plan)
	if err := dynamo.CheckForm(ctx, client, restored[dynamo.Progress]); err != nil {
		return err
	}
	if err := dynamo.CheckFirst(ctx, client, restored[dynamo.Channels]); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "wavegate-restore-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	found, err := ledger.Compare(ctx, client, func(id dynamo.TableID) string { return restored[id] }, dir, boxesAtOnce)
	if err != nil {
		return err
	}
	missing, err := bytesMissing(ctx, bucket, found.Artifacts)
	if err != nil {
		return err
	}
	return errors.Join(tell(out, o.stage, o.at, inUse, restored, found), tellMissing(out, missing))
}

// boxesAtOnce is how many boxes are compared at the same time. They take some hundred megabytes.
const boxesAtOnce = 20_000

func bringBack(ctx context.Context, a aws, plan []recovery.Restoration, at time.Time, out io.Writer) error {
	pasts, err := a.Past(ctx, plan)
	if err != nil {
		return err
	}
	plan, says, err := recovery.Fit(plan, pasts, at, time.Now())
	for _, line := range says {
		fmt.Fprintln(out, line)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "restoring %d tables to %s; this takes some ten minutes or more\n", len(plan), at.Format(time.RFC3339))
	return recovery.Restore(ctx, a, plan, at)
}

// complete gives tables that were restored from backups what a backup does not have: the settings of the tables in use,
// and the empty tables. It changes nothing if a table is missing.
func complete(ctx context.Context, a aws, plan []recovery.Restoration, at time.Time) error {
	var missing, lost []string
	for _, t := range plan {
		there, err := a.exists(ctx, t.To)
		if err != nil {
			return err
		}
		if !there && !t.Empty {
			missing = append(missing, t.To)
		}
		there, err = a.exists(ctx, t.From)
		if err != nil {
			return err
		}
		if !there {
			lost = append(lost, fmt.Sprintf("--from %s=%s", t.ID, t.To))
		}
	}
	var faults []error
	if len(missing) > 0 {
		faults = append(faults, fmt.Errorf("first restore these tables from their backups: %s", strings.Join(missing, ", ")))
	}
	if len(lost) > 0 {
		faults = append(faults, fmt.Errorf("some tables in use are gone, and their settings with them; add %s", strings.Join(lost, " ")))
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	a.completes = true
	return recovery.Restore(ctx, a, plan, at)
}

// known returns an error for a table that is not restored.
func known(id string) error {
	if !slices.ContainsFunc(recovery.Together(), func(t dynamo.Table) bool { return string(t.ID) == id }) {
		return fmt.Errorf("%q is not a table that is restored", id)
	}
	return nil
}

// read reads the names of tables and of the artifacts' bucket from Systems Manager's output: parameter and value, one line each.
func read(tables io.Reader, stage string) (names recovery.Names, bucket string, err error) {
	names = recovery.Names{}
	lines := bufio.NewScanner(tables)
	for lines.Scan() {
		name, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), "\t")
		if id, ok := strings.CutPrefix(name, "/wavegate/"+stage+"/tables/"); ok {
			names[dynamo.TableID(id)] = value
		} else if name == "/wavegate/"+stage+"/artifacts/bucket" {
			bucket = value
		}
	}
	return names, bucket, lines.Err()
}

// tell prints the result of the comparison with the audit trail, and what to deploy.
func tell(out io.Writer, stage string, at time.Time, were, restored recovery.Names, found ledger.Comparison) error {
	fmt.Fprintf(out, "%d audit events, the last of %s\n", found.Events, found.Newest[dynamo.Audit].Format(time.RFC3339Nano))
	for _, id := range slices.Sorted(maps.Keys(found.Newest)) {
		fmt.Fprintf(out, "  %s: %d items, the newest of %s\n", id, found.Items[id], found.Newest[id].Format(time.RFC3339))
	}
	wrong := found.Wrong
	if found.Events == 0 {
		wrong = append(wrong, "there is no audit event: either the tables were empty at that moment, or nothing was restored")
	}
	for _, id := range slices.Sorted(maps.Keys(found.Newest)) {
		if newest := found.Newest[id]; newest.After(at) {
			wrong = append(wrong, fmt.Sprintf("%s has an item of %s, after that moment", id, newest.Format(time.RFC3339Nano)))
		}
	}
	for _, line := range wrong {
		fmt.Fprintln(out, "WRONG:", line)
	}
	setting := func(names recovery.Names) string {
		b, err := json.Marshal(names)
		if err != nil {
			panic(err) // a map of texts
		}
		return `"restoredTables": ` + string(b)
	}
	before := recovery.Names{}
	for id := range restored {
		before[id] = were[id]
	}
	fmt.Fprintf(out, `
The setting of the deployment %[1]s, for cdk.json:

  %[2]s

Then: ./scripts/cdk indexes --context stage=%[1]s && ./scripts/cdk deploy --all --import-existing-resources --context stage=%[1]s
To go back to the earlier tables in the same way: %[3]s
`, stage, setting(restored), setting(before))
	if len(wrong) > 0 {
		return fmt.Errorf("tables and audit trail disagree in %d points; see infra/recovery.md", len(wrong))
	}
	fmt.Fprintln(out, "tables and audit trail agree")
	return nil
}
