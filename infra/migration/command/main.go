// Command command converts a deployment's stored items to a new form; see scripts/migrate.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/time/rate"

	"wavegate/infra/migration"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "migrate:", err)
		os.Exit(1)
	}
}

// shards moves the rows of boxes into the index partitions that setting.ReportShards gives them.
func shards(number report.Shards) migration.Migration {
	return migration.Migration{Table: dynamo.Reports, Form: func(item migration.Item) (migration.Item, error) {
		shard, moved, err := number.Moved(item)
		if err != nil || !moved {
			return nil, err
		}
		return migration.Item{"shard": &types.AttributeValueMemberS{Value: shard}}, nil
	}}
}

// A state is the content of the file from which an interrupted run continues. It belongs to one table and one form.
type state struct {
	Table    string             `json:"table"`
	Form     string             `json:"form"`
	Progress migration.Progress `json:"progress"`
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("migrate", flag.ContinueOnError)
	stage := flags.String("stage", "", "the deployment")
	check := flags.Bool("check", false, "only count what is left")
	file := flags.String("state", "", "the file with the progress")
	perSecond := flags.Int("rate", 500, "the maximum of writes a second")
	if err := flags.Parse(args); err != nil {
		return err
	}
	names := []string{"form", "shards"}
	if *stage == "" || flags.NArg() != 1 || !slices.Contains(names, flags.Arg(0)) || *perSecond < 1 || *file == "" {
		return fmt.Errorf("give --stage, --state, a --rate of 1 or more, and the name of a migration: %s", strings.Join(names, ", "))
	}
	if flags.Arg(0) == "form" {
		return raise(ctx, *check, out)
	}
	settings := setting.NewValues(setting.ReportShards)
	number := report.ReadShards(settings)
	if err := settings.Err(); err != nil {
		return err
	}
	m, form := shards(number), fmt.Sprintf("shards of %d", number)
	limit := rate.NewLimiter(rate.Limit(*perSecond), 1)
	now := state{Table: m.Table.Name(), Form: form}
	r := migration.Run{Client: dynamo.NewClient(), Name: now.Table, Migration: m, Wait: limit.Wait, Save: func(p migration.Progress) error {
		now.Progress = p
		return write(*file, now)
	}}
	if *check {
		left, read, err := r.Left(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s, %s: %d items, %d of them in the old form\n", now.Table, now.Form, read, left)
		if left > 0 {
			return errors.New("run it without --check")
		}
		return nil
	}
	begin, err := earlier(*file, now)
	if err != nil {
		return err
	}
	if begin.Read > 0 {
		fmt.Fprintf(out, "continuing after %d items\n", begin.Read)
	}
	p, err := r.Migrate(ctx, begin)
	fmt.Fprintf(out, "%s, %s: %d items read, %d changed, %d already in the new form\n", now.Table, now.Form, p.Read, p.Changed, p.Already)
	if err != nil {
		return fmt.Errorf("interrupted; run it again: %w", err)
	}
	return nil
}

// raise makes the number of the data's form the one of this release. From then on, no release with a lower one is deployed.
func raise(ctx context.Context, check bool, out io.Writer) error {
	client := dynamo.NewClient()
	if check {
		return dynamo.CheckForm(ctx, client, dynamo.Progress.Name())
	}
	if err := dynamo.RaiseForm(ctx, dynamo.Open(client, time.Now)); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: the stored data has form %d\n", dynamo.Progress.Name(), dynamo.Form)
	return nil
}

// earlier is the progress of an earlier run, if it had the same table and form and was interrupted.
func earlier(file string, now state) (migration.Progress, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return migration.Progress{}, nil
	}
	if err != nil {
		return migration.Progress{}, err
	}
	var was state
	if err := json.Unmarshal(b, &was); err != nil {
		return migration.Progress{}, fmt.Errorf("%s: %w", file, err)
	}
	if was.Table != now.Table || was.Form != now.Form || was.Progress.Done {
		return migration.Progress{}, nil
	}
	return was.Progress, nil
}

// write replaces a file atomically, so that a killed process leaves either the old or the new one.
func write(file string, now state) error {
	b, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
