// Package upgrade fills a deployment with things in every state, and records what it answers, so that the answers of
// two releases on the same tables can be compared. It works through the API alone.
package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
)

// A Deployment is filled, read and used. Its release may change between the calls of its methods.
type Deployment struct {
	Target harness.Target
	// Tick runs the task that counts boxes and has the guard judge rollouts.
	Tick func(context.Context) error
	// Has reports whether the release that fills the deployment has an operation.
	Has func(operation string) bool

	names, starts int // so far
	// reads write nothing; polls are those of boxes and machines, and repeated calls with an Idempotency-Key.
	reads, polls []samples.Call
	counts       []samples.Call // that count boxes again
	settled      time.Time      // of the last counts
	boxes        []box

	mu        sync.Mutex
	callers   map[samples.Caller]*harness.Caller
	recounted map[string]bool // the paths of counts whose new count is compared
}

// The callers of what a sample does not have.
var (
	second = samples.Caller{User: "otto", Organization: organization, Role: auth.OrganizationAdmin}
	other  = samples.Caller{User: "otto", Organization: "wavegate", Role: auth.PlatformOwner}
	admin  = samples.Caller{User: "anna", Organization: organization, Role: auth.OrganizationAdmin}
)

const organization = "acme"

// caller returns a caller of the deployment, at its present address.
func (d *Deployment) caller(by samples.Caller) (harness.Caller, error) {
	if by.Role == auth.Enrolment {
		return harness.Caller{URL: d.Target.URL, Bearer: "Bearer " + by.Code()}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.callers[by]; known != nil {
		return harness.Caller{URL: d.Target.URL, Bearer: known.Bearer}, nil
	}
	token, err := d.Target.Token(devissuer.Claims{User: by.User, Organization: by.Organization, Roles: []string{string(by.Role)}, TTL: 4 * time.Hour})
	if err != nil {
		return harness.Caller{}, err
	}
	if d.callers == nil {
		d.callers = map[samples.Caller]*harness.Caller{}
	}
	d.callers[by] = &harness.Caller{Bearer: "Bearer " + token}
	return harness.Caller{URL: d.Target.URL, Bearer: "Bearer " + token}, nil
}

// call makes a call. A rejected one is repeated.
func (d *Deployment) call(by samples.Caller, method, path, body string, header ...string) (harness.Answer, error) {
	c, err := d.caller(by)
	if err != nil {
		return harness.Answer{}, err
	}
	for range 100 {
		a, err := c.Try(method, path, body, header...)
		if err == nil && a.Status != http.StatusTooManyRequests && a.Status != http.StatusServiceUnavailable {
			return a, nil
		}
		if err != nil {
			return a, err
		}
		time.Sleep(time.Second)
	}
	return harness.Answer{}, fmt.Errorf("upgrade: %s %s is rejected for too long", method, path)
}

func (d *Deployment) make(c samples.Call) (harness.Answer, error) {
	return d.call(c.By, c.Method, c.Path, c.Body, c.Header[:]...)
}

// must makes a call that succeeds.
func (d *Deployment) must(by samples.Caller, method, path, body string) (harness.Answer, error) {
	a, err := d.call(by, method, path, body)
	if err == nil && a.Status/100 != 2 {
		err = fmt.Errorf("upgrade: %s %s %s is answered with %d: %s", method, path, body, a.Status, a.Body)
	}
	return a, err
}

// refused reports whether an answer has a problem's code.
func refused(a harness.Answer, code problem.Code) bool {
	p, err := a.Problem()
	return err == nil && p.Code == code
}

// items reads all pages of a list.
func (d *Deployment) items(by samples.Caller, path string) (all []map[string]any, err error) {
	for path != "" {
		a, err := d.must(by, http.MethodGet, path, "")
		if err != nil {
			return nil, err
		}
		var page struct {
			Items []map[string]any
			Next  string
		}
		if err := json.Unmarshal(a.Body, &page); err != nil {
			return nil, err
		}
		all, path = append(all, page.Items...), page.Next
	}
	return all, nil
}

// each calls a function for several things at a time.
func each[T any](all []T, do func(T) error) error {
	var (
		work    sync.WaitGroup
		mu      sync.Mutex
		faults  []error
		waiting = make(chan T)
	)
	for range 8 {
		work.Go(func() {
			for one := range waiting {
				if err := do(one); err != nil {
					mu.Lock()
					faults = append(faults, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, one := range all {
		waiting <- one
	}
	close(waiting)
	work.Wait()
	return errors.Join(faults[:min(len(faults), 10)]...)
}
