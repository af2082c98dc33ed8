package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/lab/upgrade"
	"wavegate/scripts/local/devissuer"
	"wavegate/shared/operations"
)

// The deployment as it was filled.
type filled struct {
	release    *version // that filled it
	deployment *upgrade.Deployment
	view       upgrade.View // what it answered last
}

// at finds the deployed API for the steps that follow, until the end.
func (l *played) at(ctx context.Context) (end func(), err error) {
	l.deployment.Target.URL, end, err = l.api(ctx)
	return end, err
}

// fill makes everything that the earlier release can make, and looks at it.
func (l *played) fill(ctx context.Context) error {
	issuers, err := devissuer.Load("")
	if err != nil {
		return err
	}
	l.deployment = &upgrade.Deployment{Target: harness.Target{Token: issuers.Token}, Tick: l.tick, Has: l.past.has}
	end, err := l.at(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := l.deployment.Fill(); err != nil {
		return err
	}
	return l.look(ctx)
}

func (l *played) look(ctx context.Context) error {
	err := l.deployment.Settle(ctx)
	if err == nil {
		l.view, err = l.deployment.Look()
	}
	if err == nil {
		say("%d reads and %d polls; the boxes are told %v", len(l.view.Reads), len(l.view.Polls), l.view.Told())
	}
	return err
}

// same compares every read, and what everyone is told, with the release before.
func (l *played) same(ctx context.Context) error {
	end, err := l.at(ctx)
	if err != nil {
		return err
	}
	defer end()
	view, err := l.deployment.Look()
	if err != nil {
		return err
	}
	if differ := l.view.Compare(view); len(differ) > 0 {
		return fmt.Errorf("%d of %d answers differ:\n%s", len(differ), len(l.view.Reads)+len(l.view.Polls), strings.Join(differ[:min(len(differ), 20)], "\n"))
	}
	return nil
}

// goOn continues everything with the deployed release.
func (l *played) goOn(ctx context.Context) error {
	end, err := l.at(ctx)
	if err != nil {
		return err
	}
	defer end()
	c, err := l.deployment.GoOn(ctx)
	if err != nil {
		return err
	}
	if len(c.Wrong) > 0 || c.Rollouts == 0 || c.Methods == 0 {
		return fmt.Errorf("going on with %d rollouts and %d methods, these do not agree with the trail: %q", c.Rollouts, c.Methods, c.Wrong)
	}
	say("%d active rollouts and %d methods went on, and %d methods agree with the trail", c.Rollouts, c.Methods, c.Verified)
	return l.look(ctx)
}

// rollback deploys the earlier release's service again. The data stays as the upgrade left it.
func (l *played) rollback(ctx context.Context) error {
	l.version = l.release
	_, err := l.version.run(ctx, "deploy", l.version.service(), "--exclusively", "--require-approval", "never")
	return err
}

// tick runs the task as its schedule does, which the emulator does not have.
func (l *played) tick(ctx context.Context) error {
	resources, err := l.cloud.resources(ctx, l.version.service())
	if err != nil {
		return err
	}
	for _, r := range resources {
		if r.Type != "AWS::Lambda::Function" || !strings.HasSuffix(r.Physical, "-"+operations.Tick) {
			continue
		}
		said, err := l.command(ctx, l.dir, "aws", "lambda", "invoke", "--function-name", r.Physical, "--payload", "e30=", filepath.Join(l.dir, "tick.json"))
		if err == nil && strings.Contains(said, "FunctionError") {
			err = fmt.Errorf("the tick failed: %s", said)
		}
		return err
	}
	return errors.New("there is no function that ticks")
}

// has reports whether the source has an operation.
func (s *source) has(operation string) bool {
	_, err := os.Stat(filepath.Join(s.function, operation))
	return err == nil
}
