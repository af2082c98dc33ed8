package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
)

// startTimeout limits the start of SAM, including all containers if they are made before the first call.
const startTimeout = 10 * time.Minute

// An api is a running `sam local start-api`.
type api struct {
	url   string
	end   context.CancelFunc
	ended chan struct{}
}

// When SAM makes a function's container, which it then keeps. SAM sends a call to a new container as soon as Docker
// accepts connections for it, tries three times without a wait, and answers 502 if the container is not ready by
// then. So on a busy machine, tests need containers that exist before the first call.
const (
	atFirstCall = "LAZY"
	atStart     = "EAGER"
)

// starts is how often startAPI tries.
const starts = 3

// errPortTaken means that SAM ended because a port was taken. SAM chooses the ports of its containers at random and
// without reserving them, so two containers that start together can get the same one.
var errPortTaken = errors.New("a port was taken")

// startAPI runs SAM on a port and waits until it answers. If a port was taken, it starts SAM again.
func (e *environment) startAPI(ctx context.Context, containers string) (*api, error) {
	for try := 1; ; try++ {
		a, err := e.startOnce(ctx, containers)
		if try == starts || !errors.Is(err, errPortTaken) {
			return a, err
		}
		say("%v", err)
	}
}

func (e *environment) startOnce(ctx context.Context, containers string) (*api, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	say("starting SAM")
	log, err := os.Create(samLog)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	c := e.sam(ctx, log, append([]string{
		"local", "start-api", "--host", "127.0.0.1", "--port", port, "--warm-containers", containers, "--no-watch",
	}, e.flags()...)...)
	c.Stderr = log
	if err := c.Start(); err != nil {
		cancel()
		log.Close()
		return nil, err
	}
	a := &api{url: "http://127.0.0.1:" + port, end: cancel, ended: make(chan struct{})}
	go func() {
		_ = c.Wait()
		log.Close()
		e.removeContainers()
		close(a.ended)
	}()
	if err := a.answers(ctx); err != nil {
		a.stop()
		return nil, explain(err)
	}
	return a, nil
}

// explain adds the end of SAM's log to an error.
func explain(err error) error {
	log, readErr := os.ReadFile(samLog)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	end := strings.Join(lines[max(0, len(lines)-10):], "\n")
	if strings.Contains(end, "port is already allocated") || strings.Contains(strings.ToLower(end), "address already in use") {
		err = fmt.Errorf("%w: %w", err, errPortTaken)
	}
	return fmt.Errorf("%w; the end of %s:\n%s", err, samLog, end)
}

// removeContainers removes the containers that SAM's log names and SAM has not removed: it forgets the first few of
// those that it starts together.
func (e *environment) removeContainers() {
	log, err := os.ReadFile(samLog)
	if err != nil {
		say("%v", err)
		return
	}
	var ids []string
	for line := range strings.Lines(string(log)) {
		if _, id, ok := strings.Cut(strings.TrimSpace(line), "SAM_CONTAINER_ID: "); ok {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	// It succeeds if a container is already gone.
	if out, err := exec.Command(e.tools.docker, append([]string{"rm", "--force"}, ids...)...).CombinedOutput(); err != nil {
		say("docker rm: %s", firstLine(out))
	}
}

// freePort asks the system for a port, unless PORT names one.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "0"))
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// answers waits until SAM gives any answer, even one for an unknown route.
func (a *api) answers(ctx context.Context) error {
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+"/", nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			return answer.Body.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-a.ended:
			return errors.New("SAM ended")
		case <-time.After(200 * time.Millisecond):
		}
	}
	return fmt.Errorf("SAM gives no answer within %s", startTimeout)
}

// stop ends SAM and waits until it has removed its containers.
func (a *api) stop() {
	a.end()
	<-a.ended
}

// test runs the part of the end-to-end suite that calls every operation once, and reports the number of tests. It
// shows the whole output only if one fails.
func test(ctx context.Context, url string) error {
	c := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "^(TestOperations_EachCalledOnce|TestDocs_AnyoneMayReadTheContract)$", "./scripts/e2e")
	c.Env = append(os.Environ(), "E2E_URL="+url)
	start := time.Now()
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the tests on SAM: %w\n%s", err, out)
	}
	fmt.Printf("ok  	on SAM: %d tests in %.0f s\n", bytes.Count(out, []byte("--- PASS: ")), time.Since(start).Seconds())
	return nil
}

// eventOf finds the sample event of a name and the function that it is for: an event has its function's name, except
// the several events of the authorizer.
func eventOf(name string) (function, file string, err error) {
	file = filepath.Join("events", name+".json")
	if _, err := os.Stat(file); err != nil {
		return "", "", fmt.Errorf("there is no %s", file)
	}
	if slices.Contains(table.Functions(), name) {
		return name, file, nil
	}
	if strings.HasPrefix(name, operations.Authorizer+"-") {
		return operations.Authorizer, file, nil
	}
	return "", "", fmt.Errorf("%s is for no function", file)
}
