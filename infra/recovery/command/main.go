// Command command brings a stage's tables back to a moment; see scripts/restore.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"wavegate/infra/recovery"
	"wavegate/scripts/lab/proof/ledger"
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

func run(ctx context.Context, args []string, tables io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("restore", flag.ContinueOnError)
	stage := flags.String("stage", "", "the stage")
	moment := flags.String("at", "", "the moment, RFC 3339")
	check := flags.Bool("check", false, "only compare tables that were restored to that moment with their audit trail")
	if err := flags.Parse(args); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, *moment)
	if err != nil || *stage == "" {
		return errors.New("give --stage, and --at as 2026-11-22T09:30:00Z")
	}
	names, err := read(tables, *stage)
	if err != nil {
		return err
	}
	plan, err := recovery.Plan(*stage, names, at)
	if err != nil {
		return err
	}
	client := dynamo.NewClient()
	if !*check {
		fmt.Fprintf(out, "restoring %d tables to %s; this takes some ten minutes or more\n", len(plan), at.Format(time.RFC3339))
		if err := recovery.Restore(ctx, aws{client}, plan, at); err != nil {
			return err
		}
	}
	restored := recovery.Restored(plan)
	books, err := ledger.ReadNamed(ctx, client, func(id dynamo.TableID) string { return restored[id] })
	if err != nil {
		return err
	}
	return tell(out, *stage, restored, books)
}

// read reads the names of tables as Systems Manager has them: parameter and value, a line each.
func read(tables io.Reader, stage string) (recovery.Names, error) {
	names := recovery.Names{}
	lines := bufio.NewScanner(tables)
	for lines.Scan() {
		name, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), "\t")
		if id, ok := strings.CutPrefix(name, "/wavegate/"+stage+"/tables/"); ok {
			names[dynamo.TableID(id)] = value
		}
	}
	return names, lines.Err()
}

// tell says how the tables and their audit trail compare, and what to deploy.
func tell(out io.Writer, stage string, restored recovery.Names, books ledger.Books) error {
	fmt.Fprintf(out, "%d audit events, the last of %s\n", len(books[dynamo.Audit]), books.Latest().Format(time.RFC3339Nano))
	wrong := books.Audit()
	for _, line := range wrong {
		fmt.Fprintln(out, "WRONG:", line)
	}
	setting, err := json.Marshal(restored)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe setting of the stage %s, for cdk.json:\n\n  \"restoredTables\": %s\n\nThen: ./scripts/cdk deploy --all --context stage=%s\n", stage, setting, stage)
	if len(wrong) > 0 {
		return fmt.Errorf("tables and audit trail disagree in %d points; infra/recovery.md says what to do", len(wrong))
	}
	fmt.Fprintln(out, "tables and audit trail tell one story")
	return nil
}
