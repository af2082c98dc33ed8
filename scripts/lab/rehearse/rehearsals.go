package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"wavegate/shared/platform/dynamo"
)

const (
	stage = "dev"
	// logs is a setting that changes from the third deploy on.
	logs = "logSamplePolls=50"
)

var migrate = filepath.Join("scripts", "migrate")

// life plays the life of a deployment, in this order.
func life(ctx context.Context, w *workspace) error {
	past, err := w.before(ctx)
	if err != nil {
		return err
	}
	now, err := w.present(ctx)
	if err != nil {
		return err
	}
	l := &played{workspace: w, past: past, now: now}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"the first deploy, of " + w.from, l.first},
		{"the contract's first session", func(ctx context.Context) error {
			return l.test(ctx, past, "TestContract_FirstSteps_DoWhatTheySay")
		}},
		{"the upgrade", l.upgrade},
		{"the rollback", l.rollback},
		{"the upgrade again", l.upgrade},
		{"the sample of every operation", func(ctx context.Context) error { return l.test(ctx, l.now, "TestOperations_EachCalledOnce") }},
		{"a deploy that changes nothing", l.again},
		{"a deploy that fails, and its retry", l.failure},
		{"more partitions, and the move of what is stored", l.migrate},
		{"a restore, and the deploy that takes it in", l.restore},
		{"tables restored from backups", l.backups},
		{"an upgrade after the restore", l.index},
		{"uploads to the store", func(ctx context.Context) error { return uploads(ctx, l.cloud) }},
		{"the end", l.end},
	} {
		begin := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("ok  	%s, in %.0f s\n", step.name, time.Since(begin).Seconds())
	}
	return nil
}

// The state so far.
type played struct {
	*workspace
	past, now *source
	version   *version
	release   *version // that filled it
	// restored is the setting that names the restored tables.
	restored string
}

func (l *played) first(ctx context.Context) error {
	var err error
	if l.version, err = l.past.synth(ctx, "first"); err != nil {
		return err
	}
	l.release = l.version
	return l.version.deploy(ctx)
}

// upgrade deploys the working tree over the earlier commit: the tables and their content stay.
func (l *played) upgrade(ctx context.Context) error {
	before, err := l.cloud.resources(ctx, l.version.data())
	if err != nil {
		return err
	}
	channels, err := l.channels(ctx)
	if err != nil || channels == 0 {
		return errors.Join(fmt.Errorf("%d channels before the upgrade", channels), err)
	}
	if l.version, err = l.now.synth(ctx, "upgraded"); err != nil {
		return err
	}
	if err := l.version.deploy(ctx); err != nil {
		return err
	}
	after, err := l.cloud.resources(ctx, l.version.data())
	if err != nil {
		return err
	}
	kept := 0
	for id, r := range before {
		if r.Type != "AWS::DynamoDB::Table" {
			continue
		}
		if kept++; after[id].Physical != r.Physical {
			return fmt.Errorf("%s was %s and is %s", id, r.Physical, after[id].Physical)
		}
	}
	if still, err := l.channels(ctx); err != nil || still != channels {
		return errors.Join(fmt.Errorf("%d channels, and %d before", still, channels), err)
	}
	say("the upgrade kept %d tables with %d channels", kept, channels)
	return nil
}

// rollback deploys the earlier release's service again. The data stays as the upgrade left it.
func (l *played) rollback(ctx context.Context) error {
	before, err := l.channels(ctx)
	if err != nil {
		return err
	}
	l.version = l.release
	if _, err := l.version.run(ctx, "deploy", l.version.service(), "--exclusively", "--require-approval", "never"); err != nil {
		return err
	}
	if still, err := l.channels(ctx); err != nil || still != before {
		return errors.Join(fmt.Errorf("%d channels, and %d before", still, before), err)
	}
	return nil
}

// again repeats the deploy, which replaces nothing.
func (l *played) again(ctx context.Context) error {
	before, err := l.version.physical(ctx)
	if err != nil {
		return err
	}
	if err := l.version.deploy(ctx); err != nil {
		return err
	}
	after, err := l.version.physical(ctx)
	if err != nil {
		return err
	}
	if !maps.Equal(before, after) {
		return fmt.Errorf("it replaced resources: %v became %v", before, after)
	}
	say("all %d resources are unchanged", len(after))
	return nil
}

// failure deploys a service with a last function that cannot be created, after others have changed. The stack is
// rolled back, and the service keeps answering. Then the same release is deployed without the fault.
func (l *played) failure(ctx context.Context) error {
	before, err := l.version.physical(ctx)
	if err != nil {
		return err
	}
	release, err := l.now.synth(ctx, "failing", logs)
	if err != nil {
		return err
	}
	// A parameter with a name that is already used, which CloudFormation creates after the functions and their versions.
	err = release.change(release.service(), func(resources map[string]map[string]any) {
		var functions []any
		for id, r := range resources {
			if kind := r["Type"]; kind == "AWS::Lambda::Function" || kind == "AWS::Lambda::Version" {
				functions = append(functions, id)
			}
		}
		resources["refused"] = map[string]any{"Type": "AWS::SSM::Parameter", "DependsOn": functions,
			"Properties": map[string]any{"Type": "String", "Name": "/wavegate/" + stage + "/tables/" + string(dynamo.Edges), "Value": "none"}}
	})
	if err != nil {
		return err
	}
	if err := release.deploy(ctx); err == nil {
		return errors.New("the deploy with a fault succeeded")
	} else if !strings.Contains(err.Error(), "refused") {
		return fmt.Errorf("the deploy failed for another reason: %w", err)
	}
	if _, err := l.channels(ctx); err != nil {
		return fmt.Errorf("after a failed deploy: %w", err)
	}
	if l.version, err = l.now.synth(ctx, "retried", logs); err != nil {
		return err
	}
	if err := l.version.deploy(ctx); err != nil {
		return fmt.Errorf("the retry: %w", err)
	}
	after, err := l.version.physical(ctx)
	if err != nil {
		return err
	}
	replaced := 0
	for id, r := range before {
		if after[id] != r {
			replaced++
		}
	}
	say("the failed deploy was rolled back, and its retry succeeded; %d resources are new", replaced)
	return nil
}

// migrate spreads the boxes over more partitions.
func (l *played) migrate(ctx context.Context) error {
	l.settings = append(l.settings, "reportShards=128")
	var err error
	if l.version, err = l.now.synth(ctx, "spread", logs); err != nil {
		return err
	}
	if err := l.version.deploy(ctx); err != nil {
		return err
	}
	arguments := []string{"--stage", stage, "shards"}
	if _, err := l.command(ctx, l.root, migrate, append([]string{"--check"}, arguments...)...); err == nil {
		return errors.New("there was no row to move")
	}
	out, err := l.command(ctx, l.root, migrate, arguments...)
	if err != nil {
		return err
	}
	say("%s", strings.TrimSpace(out))
	_, err = l.command(ctx, l.root, migrate, append([]string{"--check"}, arguments...)...)
	return err
}

// indexes runs the check before a deploy.
func (l *played) indexes(ctx context.Context) error {
	program := filepath.Join(l.dir, "indexes")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./infra/indexes")
	build.Dir = l.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	_, err := l.command(ctx, l.dir, program, l.version.app)
	return err
}

// index adds an index to a restored table, as a later release would.
func (l *played) index(ctx context.Context) error {
	const added = "byRehearsal"
	var err error
	if l.version, err = l.now.synth(ctx, "after", logs, l.restored); err != nil {
		return err
	}
	err = l.version.change(l.version.data(), func(resources map[string]map[string]any) {
		for id, r := range resources {
			if properties, _ := r["Properties"].(map[string]any); strings.HasPrefix(id, "tablefactories") {
				properties["AttributeDefinitions"] = append(properties["AttributeDefinitions"].([]any), map[string]any{"AttributeName": "rehearsal", "AttributeType": "S"})
				properties["GlobalSecondaryIndexes"] = append(properties["GlobalSecondaryIndexes"].([]any), map[string]any{
					"IndexName": added, "KeySchema": []any{map[string]any{"AttributeName": "rehearsal", "KeyType": "HASH"}}, "Projection": map[string]any{"ProjectionType": "ALL"},
				})
			}
		}
	})
	if err != nil {
		return err
	}
	if err := l.indexes(ctx); err != nil {
		return err
	}
	if err := l.version.deploy(ctx); err != nil {
		return err
	}
	names, err := l.tables(ctx)
	if err != nil {
		return err
	}
	there, err := l.cloud.indexes(ctx, names[dynamo.Factories])
	if err != nil || !slices.Contains(there, added) {
		return errors.Join(fmt.Errorf("the restored table has the indexes %v", there), err)
	}
	say("the restored table has the index of a later release")
	return l.test(ctx, l.now, "TestOperations_EachCalledOnce")
}

// end destroys the deployment, which is protected, and leaves its tables: those in use, and those from before the
// restore.
func (l *played) end(ctx context.Context) error {
	if err := l.version.destroy(ctx); err == nil {
		return errors.New("the stacks were destroyed although they are protected")
	}
	for _, stack := range l.version.stacks() {
		if err := l.cloud.unprotect(ctx, stack); err != nil {
			return err
		}
	}
	tables, err := l.cloud.tables(ctx)
	if err != nil {
		return err
	}
	if err := l.version.destroy(ctx); err != nil {
		return err
	}
	states, err := l.cloud.stacks(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if strings.HasPrefix(name, "wavegate-") {
			return fmt.Errorf("%s is left: %s", name, states[name])
		}
	}
	left, err := l.cloud.tables(ctx)
	if err != nil || !slices.Equal(tables, left) || len(left) < len(dynamo.Tables) {
		return errors.Join(fmt.Errorf("left are the tables %v of %v", left, tables), err)
	}
	say("the stacks are destroyed, and all %d tables are left", len(left))
	return nil
}

// physical lists the physical ids of all stacks.
func (v *version) physical(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	for _, stack := range v.stacks() {
		resources, err := v.in.cloud.resources(ctx, stack)
		if err != nil {
			return nil, err
		}
		for id, r := range resources {
			all[stack+" "+id] = r.Physical
		}
	}
	return all, nil
}
