package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"wavegate/scripts/lab/old"
)

// A workspace is where versions of the project are built and deployed with the unmodified CDK command.
type workspace struct {
	cloud    *cloud
	root     string // of the project
	dir      string // for built files
	from     string // the commit to upgrade from
	settings []string
}

// A version is the project at one commit, with the settings of a deployment.
type version struct {
	in  *workspace
	app string // the directory of its synthesised stacks
}

// A source is a commit's built functions and app.
type source struct {
	in                *workspace
	root              string
	name              string
	program, function string
}

// prepare sets up the account for the CDK.
func (w *workspace) prepare(ctx context.Context) error {
	_, err := w.cdk(ctx, w.dir, "bootstrap", fmt.Sprintf("aws://%s/%s", account, region))
	return err
}

// present is the project in the working tree.
func (w *workspace) present(ctx context.Context) (*source, error) { return w.build(ctx, w.root, "now") }

// before is the project at the commit to upgrade from.
func (w *workspace) before(ctx context.Context) (*source, error) {
	root := filepath.Join(w.dir, "source")
	if err := old.Source(ctx, w.root, w.from, root); err != nil {
		return nil, err
	}
	return w.build(ctx, root, "before")
}

// build builds the functions, for this machine's processor, and the app.
func (w *workspace) build(ctx context.Context, root, name string) (*source, error) {
	s := &source{in: w, root: root, name: name, program: filepath.Join(w.dir, name+"-infra"), function: filepath.Join(w.dir, name+"-functions")}
	functions := exec.CommandContext(ctx, filepath.Join(root, "scripts", "build"))
	functions.Env = append(os.Environ(), "OUT="+s.function, "OS=linux", "ARCH="+runtime.GOARCH, "TOOLCHAIN=local")
	app := exec.CommandContext(ctx, "go", "build", "-o", s.program, "./infra")
	for _, c := range []*exec.Cmd{functions, app} {
		c.Dir = root
		if out, err := c.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return s, nil
}

// architectures maps Go's names of processors to the CDK's.
var architectures = map[string]string{"amd64": "x86_64", "arm64": "arm64"}

// knows reports whether the source's app reads a setting: "name=value". An app refuses those that it does not know.
func (s *source) knows(setting string) (bool, error) {
	name, _, _ := strings.Cut(setting, "=")
	files, err := filepath.Glob(filepath.Join(s.root, "infra", "*.go"))
	if err != nil {
		return false, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return false, err
		}
		if !strings.HasSuffix(file, "_test.go") && bytes.Contains(text, []byte(strconv.Quote(name))) {
			return true, nil
		}
	}
	return false, nil
}

// synth synthesises a source's stacks as a version of the deployment, with the settings that the source knows.
func (s *source) synth(ctx context.Context, name string, settings ...string) (*version, error) {
	v := &version{in: s.in, app: filepath.Join(s.in.dir, name)}
	arguments := []string{"synth", "--quiet", "--output", v.app, "--app", s.program, "--build", "true"}
	own := []string{"stage=" + stage, "functions=" + s.function, "architecture=" + architectures[runtime.GOARCH]}
	for _, setting := range slices.Concat(own, s.in.settings, settings) {
		known, err := s.knows(setting)
		switch {
		case err != nil:
			return nil, err
		case known:
			arguments = append(arguments, "--context", setting)
		default:
			say("%s has no setting %s", s.name, setting)
		}
	}
	if _, err := s.in.cdk(ctx, s.root, arguments...); err != nil {
		return nil, err
	}
	return v, v.strip()
}

// unknown are the types of resources that the emulator does not support.
var unknown = []string{
	"AWS::Backup::BackupSelection", "AWS::CloudWatch::CompositeAlarm", "AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentGroup",
	"AWS::Cognito::ManagedLoginBranding", "AWS::Events::ApiDestination", "AWS::Events::Connection", "AWS::Logs::QueryDefinition",
	"AWS::ServiceQuotas::Template",
}

// unknownOf returns the part of a resource that the emulator does not support; empty if it supports all.
func unknownOf(resource map[string]any) string {
	kind, _ := resource["Type"].(string)
	properties, _ := resource["Properties"].(map[string]any)
	switch {
	case slices.Contains(unknown, kind):
		return kind
	case kind == "AWS::CloudWatch::Alarm" && properties["Metrics"] != nil:
		return kind + " of computed metrics"
	}
	return ""
}

// strip removes the resources from the templates that the emulator does not support.
func (v *version) strip() error {
	count := map[string]int{}
	for _, stack := range v.stacks() {
		err := v.change(stack, func(resources map[string]map[string]any) {
			for id, r := range resources {
				if kind := unknownOf(r); kind != "" {
					count[kind]++
					delete(resources, id)
				}
			}
			for _, r := range resources {
				after, _ := r["DependsOn"].([]any)
				r["DependsOn"] = slices.DeleteFunc(after, func(id any) bool { _, there := resources[id.(string)]; return !there })
				if len(after) == 0 {
					delete(r, "DependsOn")
				}
			}
		})
		if err != nil {
			return err
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		say("removed, because the emulator does not support it: %d %s", count[kind], kind)
	}
	return nil
}

// change changes the resources of a template.
func (v *version) change(stack string, how func(resources map[string]map[string]any)) error {
	file := filepath.Join(v.app, stack+".template.json")
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var all map[string]any
	var part struct{ Resources map[string]map[string]any }
	if err := errors.Join(json.Unmarshal(b, &all), json.Unmarshal(b, &part)); err != nil {
		return err
	}
	how(part.Resources)
	all["Resources"] = part.Resources
	if b, err = json.Marshal(all); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(file, b, 0o600), v.rename(stack, fmt.Sprintf("%x.json", sha256.Sum256(b))))
}

// rename makes the CDK upload a changed template under a new name. The CDK assumes that a template with an existing
// name has not changed.
func (v *version) rename(stack, name string) (err error) {
	app, err := os.OpenRoot(v.app)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	const manifest = "manifest.json"
	b, err := app.ReadFile(manifest)
	if err != nil {
		return err
	}
	var all struct {
		Artifacts map[string]struct {
			Properties struct {
				URL string `json:"stackTemplateAssetObjectUrl"`
			} `json:"properties"`
		} `json:"artifacts"`
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	before := path.Base(all.Artifacts[stack].Properties.URL)
	for _, file := range []string{manifest, stack + ".assets.json"} {
		b, err := app.ReadFile(file)
		if err != nil {
			return err
		}
		if !bytes.Contains(b, []byte(before)) {
			return fmt.Errorf("%s does not name the template %s", file, before)
		}
		if err := app.WriteFile(file, bytes.ReplaceAll(b, []byte(before), []byte(name)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// data and service are the names of the deployment's stacks.
func (v *version) data() string    { return "wavegate-" + stage }
func (v *version) service() string { return "wavegate-" + stage + "-service" }

// stacks are the names of the version's stacks, in the order of deploy --all.
func (v *version) stacks() []string {
	var names []string
	for _, part := range []string{"", "-service", "-events", "-backup", "-watch"} {
		if _, err := v.template("wavegate-" + stage + part); err == nil {
			names = append(names, "wavegate-"+stage+part)
		}
	}
	return names
}

// deploy deploys all stacks, and checks each against its template.
func (v *version) deploy(ctx context.Context, options ...string) error {
	if _, err := v.run(ctx, append([]string{"deploy", "--all", "--require-approval", "never"}, options...)...); err != nil {
		return err
	}
	total := 0
	for _, stack := range v.stacks() {
		want, err := v.template(stack)
		if err != nil {
			return err
		}
		if err := v.complete(ctx, stack, want); err != nil {
			return err
		}
		total += len(want.Resources)
	}
	say("%d stacks, with all %d resources of their templates", len(v.stacks()), total)
	return nil
}

// A template has the parts that are read.
type template struct {
	Resources map[string]struct{ Type string }
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
		if state := got[id].Status; state != "CREATE_COMPLETE" && state != "UPDATE_COMPLETE" && state != "IMPORT_COMPLETE" {
			faults = append(faults, fmt.Errorf("%s: %s (%s) is %q", stack, id, r.Type, state))
		}
	}
	for id, r := range got {
		if want.Resources[id].Type == "" && r.Status != "DELETE_COMPLETE" && r.Status != "DELETE_SKIPPED" {
			faults = append(faults, fmt.Errorf("%s: %s (%s) is still there", stack, id, r.Type))
		}
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

// cdk calls the CDK command in a directory. Its output is shown only if it fails.
func (w *workspace) cdk(ctx context.Context, dir string, arguments ...string) (string, error) {
	return w.command(ctx, dir, filepath.Join(w.root, "scripts", "node_modules", ".bin", "cdk"), arguments...)
}

// command runs a program on the emulated cloud.
func (w *workspace) command(ctx context.Context, dir, program string, arguments ...string) (string, error) {
	c := exec.CommandContext(ctx, program, arguments...)
	c.Dir = dir
	c.Env = append(os.Environ(), w.cloud.environment()...)
	out, err := c.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), arguments[0], err, out)
	}
	return string(out), nil
}

func say(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "rehearse: "+strings.TrimSuffix(format, "\n")+"\n", values...)
}
