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

// startAPI runs SAM on a port and waits until it answers.
func (e *environment) startAPI(ctx context.Context, containers string) (*api, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	say("starting SAM")
	ctx, cancel := context.WithCancel(ctx)
	log, err := os.Create(filepath.Join(".dev", "sam", "sam.log"))
	if err != nil {
		cancel()
		return nil, err
	}
	c := e.sam(ctx, log, append([]string{"local", "start-api", "--host", "127.0.0.1", "--port", port, "--warm-containers", containers}, e.flags()...)...)
	c.Stderr = log
	if err := c.Start(); err != nil {
		cancel()
		return nil, err
	}
	a := &api{url: "http://127.0.0.1:" + port, end: cancel, ended: make(chan struct{})}
	go func() {
		_ = c.Wait()
		log.Close()
		close(a.ended)
	}()
	if err := a.answers(ctx); err != nil {
		a.stop()
		return nil, fmt.Errorf("%w; see .dev/sam/sam.log", err)
	}
	return a, nil
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
	if slices.Contains(operations.Functions(), name) {
		return name, file, nil
	}
	if strings.HasPrefix(name, operations.Authorizer+"-") {
		return operations.Authorizer, file, nil
	}
	return "", "", fmt.Errorf("%s is for no function", file)
}
