// Command indexes compares a deploy's tables with the deployed ones; see scripts/cdk.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	err := errors.New("give the directory with the synthesised templates")
	if len(os.Args) == 2 {
		err = check(ctx, os.DirFS(os.Args[1]), deployed{deployedTemplate, liveTable})
	}
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "indexes:", err)
		os.Exit(1)
	}
}

// deployed reads the deployed stacks and tables of a region.
type deployed struct {
	// template is the template of a stack; nil if there is none.
	template func(ctx context.Context, stack, region string) ([]byte, error)
	// table is an existing table; the zero table if there is none.
	table func(ctx context.Context, name, region string) (table, error)
}

// check compares every stack of an assembly with the deployed one.
func check(ctx context.Context, assembly fs.FS, there deployed) error {
	b, err := fs.ReadFile(assembly, "manifest.json")
	if err != nil {
		return err
	}
	var manifest struct {
		Artifacts map[string]struct {
			Type, Environment string
			Properties        struct{ TemplateFile string }
		}
	}
	if err := json.Unmarshal(b, &manifest); err != nil {
		return err
	}
	var faults []string
	for stack, artifact := range manifest.Artifacts {
		if artifact.Type != "aws:cloudformation:stack" {
			continue
		}
		region := artifact.Environment[strings.LastIndex(artifact.Environment, "/")+1:]
		old, err := there.template(ctx, stack, region)
		if err != nil {
			return err
		}
		if old == nil {
			continue
		}
		var was, next template
		b, err := fs.ReadFile(assembly, artifact.Properties.TemplateFile)
		if err := errors.Join(err, json.Unmarshal(old, &was)); err != nil {
			return fmt.Errorf("%s: %w", stack, err)
		}
		if err := json.Unmarshal(b, &next); err != nil {
			return fmt.Errorf("%s: %w", stack, err)
		}
		found := refused(was, next)
		names, lost := taken(was, next)
		found = append(found, lost...)
		for id, name := range names {
			live, err := there.table(ctx, name, region)
			if err != nil {
				return err
			}
			found = append(found, differs(id, live, next.Resources[id].Properties.table)...)
		}
		for _, fault := range found {
			faults = append(faults, stack+": "+fault)
		}
	}
	if len(faults) > 0 {
		return errors.New("the deploy would fail, or lose a table:\n  " + strings.Join(faults, "\n  "))
	}
	return nil
}

func deployedTemplate(ctx context.Context, stack, region string) ([]byte, error) {
	out, err := ask(ctx, region, "cloudformation", "get-template", "--stack-name", stack, "--query", "TemplateBody")
	if err != nil && strings.Contains(err.Error(), "does not exist") {
		return nil, nil
	}
	return out, err
}

func liveTable(ctx context.Context, name, region string) (t table, err error) {
	out, err := ask(ctx, region, "dynamodb", "describe-table", "--table-name", name, "--query", "Table")
	if err != nil && strings.Contains(err.Error(), "ResourceNotFoundException") {
		return t, nil
	}
	if err == nil {
		err = json.Unmarshal(out, &t)
	}
	return t, err
}

// ask runs the AWS command.
func ask(ctx context.Context, region string, args ...string) ([]byte, error) {
	args = append(args, "--output", "json")
	if region != "unknown-region" { // otherwise the credentials' region
		args = append(args, "--region", region)
	}
	cmd := exec.CommandContext(ctx, "aws", args...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("aws %s %s: %w: %s", args[0], args[1], err, strings.TrimSpace(problem.String()))
	}
	return out, nil
}
