// Command indexes compares the tables that a deploy would make with those that are deployed; see scripts/cdk.
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
	err := errors.New("name the directory that was synthesised")
	if len(os.Args) == 2 {
		err = check(ctx, os.DirFS(os.Args[1]), deployed)
	}
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "indexes:", err)
		os.Exit(1)
	}
}

// A fetch gives the template of a stack that is deployed in a region; nil if there is none.
type fetch func(ctx context.Context, stack, region string) ([]byte, error)

// check compares every stack of an assembly with what is deployed.
func check(ctx context.Context, assembly fs.FS, fetch fetch) error {
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
		old, err := fetch(ctx, stack, region)
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
		for _, fault := range refused(was, next) {
			faults = append(faults, stack+": "+fault)
		}
	}
	if len(faults) > 0 {
		return errors.New("the deploy would fail, or lose a table:\n  " + strings.Join(faults, "\n  "))
	}
	return nil
}

// deployed asks the AWS command.
func deployed(ctx context.Context, stack, region string) ([]byte, error) {
	args := []string{"cloudformation", "get-template", "--stack-name", stack, "--query", "TemplateBody", "--output", "json"}
	if region != "unknown-region" { // the stage is deployed where the credentials point to
		args = append(args, "--region", region)
	}
	cmd := exec.CommandContext(ctx, "aws", args...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil && strings.Contains(problem.String(), "does not exist") {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", stack, err, strings.TrimSpace(problem.String()))
	}
	return out, nil
}
