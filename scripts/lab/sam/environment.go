package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
)

// The working directory is the repository. Generated files are in .dev/sam.
const (
	functionsDir = ".dev/functions" // those of the local service, which are built the same
	assemblyDir  = ".dev/sam/cdk.out"
	variables    = ".dev/sam/variables.json"
	samLog       = ".dev/sam/sam.log"
	template     = assemblyDir + "/wavegate-dev.template.json"
)

// host is the containers' name of this machine.
const host = "host.docker.internal"

func say(format string, values ...any) { fmt.Fprintf(os.Stderr, "sam: "+format+"\n", values...) }

// An environment of the functions: their store, and the template that names them.
type environment struct {
	tools tools
	undo  []func()
}

// prepare builds the functions, synthesises the stack for this machine and starts the store.
func prepare(ctx context.Context, t tools) (e *environment, err error) {
	cpu, err := thisProcessor()
	if err != nil {
		return nil, err
	}
	if err := t.ensureImage(ctx, cpu.tag); err != nil {
		return nil, err
	}
	e = &environment{tools: t}
	defer func(begun *environment) {
		if err != nil {
			begun.close()
		}
	}(e)
	endpoint, err := e.startStore(ctx)
	if err != nil {
		return nil, err
	}
	say("building the functions")
	build := exec.CommandContext(ctx, "./scripts/build")
	build.Env = append(os.Environ(), "ARCH="+cpu.goarch, "OUT="+absolute(functionsDir), "TOOLCHAIN=local")
	if err := loud(build); err != nil {
		return nil, err
	}
	if err := loud(exec.CommandContext(ctx, "./scripts/contract", "docs", functionsDir)); err != nil {
		return nil, err
	}
	issuers, err := devissuer.Load("")
	if err != nil {
		return nil, err
	}
	say("synthesising the stack")
	synth := exec.CommandContext(ctx, "./scripts/cdk", "synth", "--quiet", "--build", "true", "--output", assemblyDir,
		"--context", "stage=dev", "--context", "docs=true", "--context", "architecture="+cpu.cdk, "--context", "functions="+functionsDir,
		"--context", "issuers="+issuers.Setting(), "--context", "storeEndpoint="+endpoint)
	if err := loud(synth); err != nil {
		return nil, err
	}
	return e, writeVariables()
}

// absolute is the path from the root; the working directory is the repository.
func absolute(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	return filepath.Join(dir, path)
}

// loud runs a command, and shows its output only if it fails.
func loud(c *exec.Cmd) error {
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c.Path, err, out)
	}
	return nil
}

// startStore starts DynamoDB Local with its tables and returns the endpoint for containers. The store listens on
// loopback; containers reach it by a relay on Docker's own network.
func (e *environment) startStore(ctx context.Context) (string, error) {
	db, err := dynamolocal.Reference(ctx, dynamolocal.ReferenceOptions{Progress: os.Stderr})
	if err != nil {
		return "", err
	}
	e.undo = append(e.undo, func() { db.Close() })
	if err := dynamolocal.CreateTables(ctx, db.Client()); err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(bridge(), "0"))
	if err != nil {
		return "", err
	}
	e.undo = append(e.undo, func() { listener.Close() })
	go relay(listener, strings.TrimPrefix(db.Endpoint, "http://"))
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return "http://" + net.JoinHostPort(host, port), err
}

// bridge is this machine's address on Docker's network. If Docker runs in a virtual machine, as on macOS, there is no
// such network here, and containers can reach loopback.
func bridge() string {
	docker, err := net.InterfaceByName("docker0")
	if err != nil {
		return "127.0.0.1"
	}
	addresses, err := docker.Addrs()
	if err != nil {
		return "127.0.0.1"
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil {
			return ip.IP.String()
		}
	}
	return "127.0.0.1"
}

// relay forwards connections to a server until the listener is closed.
func relay(from net.Listener, to string) {
	for {
		client, err := from.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", to)
		if err != nil {
			client.Close()
			continue
		}
		carry := func(to, from net.Conn) {
			_, _ = io.Copy(to, from)
			to.Close()
		}
		go carry(server, client)
		go carry(client, server)
	}
}

// writeVariables gives SAM the names of the local tables: in the template they are references that only a deploy
// resolves. SAM uses them for the functions that have the variable.
func writeVariables() error {
	names := map[string]string{}
	for _, t := range dynamo.Tables {
		names[t.ID.EnvName()] = dynamolocal.TableName(t.ID)
	}
	b, err := json.Marshal(map[string]any{"Parameters": names})
	if err != nil {
		return err
	}
	return os.WriteFile(variables, b, 0o600)
}

// flags are the options of every SAM call.
func (e *environment) flags() []string {
	return []string{
		"--template", template, "--env-vars", variables, "--region", dynamolocal.Region,
		"--skip-pull-image", "--add-host", host + ":host-gateway",
	}
}

// sam returns a SAM command. It is interrupted when the context ends, so that it removes its containers.
func (e *environment) sam(ctx context.Context, out io.Writer, arguments ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, e.tools.sam, arguments...)
	c.Env = append(os.Environ(), "SAM_CLI_TELEMETRY=0", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local")
	c.Stdout, c.Stderr = out, &quiet{os.Stderr}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	return c
}

// invoke returns a SAM command that sends one event to one function.
func (e *environment) invoke(ctx context.Context, out io.Writer, function, event string) *exec.Cmd {
	return e.sam(ctx, out, append([]string{"local", "invoke", function, "--event", event}, e.flags()...)...)
}

// quiet drops SAM's messages about resources that are not functions.
type quiet struct{ to io.Writer }

func (q *quiet) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("Cannot detect function id")) {
			continue
		}
		if _, err := q.to.Write(line); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

func (e *environment) close() {
	for i := len(e.undo) - 1; i >= 0; i-- {
		e.undo[i]()
	}
}
