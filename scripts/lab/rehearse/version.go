package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A workspace is where versions of the project are built, and deployed with the unmodified CDK command.
type workspace struct {
	cloud *cloud
	root  string // of the project
	dir   string // for what is made
	from  string // the commit that is upgraded from
}

// A version is the project at one commit, with the settings of a stage.
type version struct {
	in    *workspace
	app   string // the directory of its synthesised stacks
	stage string
}

// prepare gives the account what the CDK wants in it.
func (w *workspace) prepare(ctx context.Context) error {
	_, err := w.cdk(ctx, w.dir, "bootstrap", fmt.Sprintf("aws://%s/%s", account, region))
	return err
}

// present is the project as it lies in the working tree.
func (w *workspace) present(ctx context.Context, stage string, settings ...string) (*version, error) {
	return w.version(ctx, w.root, "now", stage, settings)
}

// past is the project as it was at the commit that is upgraded from.
func (w *workspace) past(ctx context.Context, stage string, settings ...string) (*version, error) {
	root := filepath.Join(w.dir, "source")
	if err := os.MkdirAll(root, 0o750); err != nil {
		return nil, err
	}
	archive := exec.CommandContext(ctx, "sh", "-euc", `git archive --format=tar "$1" | tar -x -C "$2"`, "sh", w.from, root)
	archive.Dir = w.root
	if out, err := archive.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the commit %s cannot be had (a shallow clone lacks it): %w: %s", w.from, err, out)
	}
	return w.version(ctx, root, "before", stage, settings)
}

// version builds a version's app and synthesises its stacks. What its functions do does not matter to a
// deploy, so that a text stands for each.
func (w *workspace) version(ctx context.Context, root, name, stage string, settings []string) (*version, error) {
	program := filepath.Join(w.dir, name+"-infra")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./infra")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the app of %s: %w\n%s", name, err, out)
	}
	functions := filepath.Join(w.dir, name+"-functions")
	folders, err := filepath.Glob(filepath.Join(root, "functions", "*"))
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		to := filepath.Join(functions, filepath.Base(f))
		if err := os.MkdirAll(to, 0o750); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(to, "bootstrap"), []byte("stands for "+to), 0o600); err != nil {
			return nil, err
		}
	}
	v := &version{in: w, app: filepath.Join(w.dir, name), stage: stage}
	synth := []string{"synth", "--quiet", "--output", v.app, "--app", program, "--build", "true", "--context", "stage=" + stage, "--context", "functions=" + functions}
	for _, setting := range settings {
		synth = append(synth, "--context", setting)
	}
	_, err = w.cdk(ctx, root, synth...)
	return v, err
}

// data and service are the names of the stage's stacks.
func (v *version) data() string    { return "wavegate-" + v.stage }
func (v *version) service() string { return "wavegate-" + v.stage + "-service" }

// stacks are the names of those that the version has, in the order in which deploy --all takes them.
func (v *version) stacks() []string {
	names := []string{v.data()}
	for _, name := range []string{v.service(), "wavegate-" + v.stage + "-watch"} {
		if _, err := v.template(name); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// deploy deploys one stack. CloudFormation would read the parameters of Systems Manager that the stack
// names; the emulator takes their names for their values, so that they are given to it.
func (v *version) deploy(ctx context.Context, stack string) error {
	values, err := v.in.cloud.parameters(ctx, "/wavegate/"+v.stage)
	if err != nil {
		return err
	}
	output, err := v.template(stack)
	if err != nil {
		return err
	}
	arguments := []string{"deploy", stack, "--exclusively", "--require-approval", "never"}
	for id, p := range output.Parameters {
		if value, ok := values[p.Default]; ok {
			arguments = append(arguments, "--parameters", stack+":"+id+"="+value)
		} else if strings.HasPrefix(p.Default, "/wavegate/") {
			return fmt.Errorf("%s reads %s, which nothing has written", stack, p.Default)
		}
	}
	if _, err := v.run(ctx, arguments...); err != nil {
		return err
	}
	return v.complete(ctx, stack, output)
}

// deployAll deploys the data first, as deploy --all does. A version from before has fewer stacks.
func (v *version) deployAll(ctx context.Context) error {
	for _, stack := range v.stacks() {
		if err := v.deploy(ctx, stack); err != nil {
			return err
		}
	}
	return nil
}

// A template is the part that is looked at.
type template struct {
	Parameters map[string]struct{ Default string }
	Resources  map[string]struct{ Type string }
}

// template reads a stack's template.
func (v *version) template(stack string) (template, error) {
	var t template
	b, err := os.ReadFile(filepath.Join(v.app, stack+".template.json"))
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(b, &t)
}

// complete checks that a stack has all resources of its template and no others.
func (v *version) complete(ctx context.Context, stack string, want template) error {
	got, err := v.in.cloud.resources(ctx, stack)
	if err != nil {
		return err
	}
	var faults []error
	for id, r := range want.Resources {
		if state := got[id].Status; state != "CREATE_COMPLETE" && state != "UPDATE_COMPLETE" {
			faults = append(faults, fmt.Errorf("%s: %s (%s) is %q", stack, id, r.Type, state))
		}
	}
	for id, r := range got {
		if want.Resources[id].Type == "" && r.Status != "DELETE_COMPLETE" {
			faults = append(faults, fmt.Errorf("%s: %s (%s) is still there", stack, id, r.Type))
		}
	}
	if len(faults) == 0 {
		say("%s: %d of %d resources", stack, len(want.Resources), len(want.Resources))
	}
	return errors.Join(faults...)
}

// destroy destroys all stacks.
func (v *version) destroy(ctx context.Context) error {
	_, err := v.run(ctx, "destroy", "--all", "--force")
	return err
}

// run calls the CDK command on the version's stacks.
func (v *version) run(ctx context.Context, arguments ...string) (string, error) {
	return v.in.cdk(ctx, v.in.dir, append(arguments, "--app", v.app)...)
}

// cdk calls the CDK command in a directory. What it says is shown only when it fails.
func (w *workspace) cdk(ctx context.Context, dir string, arguments ...string) (string, error) {
	c := exec.CommandContext(ctx, filepath.Join(w.root, "scripts", "node_modules", ".bin", "cdk"), arguments...)
	c.Dir = dir
	c.Env = append(os.Environ(), w.cloud.environment()...)
	out, err := c.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("cdk %s: %w\n%s", arguments[0], err, out)
	}
	return string(out), nil
}

func say(format string, values ...any) { fmt.Fprintf(os.Stderr, "rehearse: "+format+"\n", values...) }
