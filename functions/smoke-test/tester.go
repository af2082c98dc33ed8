package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	lambdaapi "github.com/aws/aws-sdk-go-v2/service/lambda"
	"golang.org/x/sync/errgroup"
)

// atOnce is how many versions are tried in parallel: an account may have as few as ten concurrent executions.
const atOnce = 5

// A tester publishes versions and tries them.
type tester struct {
	api      *lambdaapi.Client
	log      *slog.Logger
	patience time.Duration
}

// try publishes the functions in w and calls every version. It returns the published versions by function, and a text
// for each version that failed, in order.
func (t tester) try(ctx context.Context, w wishes) (published map[string]string, faults []string) {
	var mu sync.Mutex
	published = map[string]string{}
	failed := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, fmt.Sprintf(format, args...))
	}
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, name := range w.Publish {
		g.Go(func() error {
			function := strings.TrimPrefix(name, w.Prefix)
			// Lambda returns the previous version if neither code nor configuration has changed since.
			out, err := t.api.PublishVersion(ctx, &lambdaapi.PublishVersionInput{FunctionName: &name})
			if err != nil {
				failed("%s cannot be published: %v", function, err)
				return nil
			}
			if err := t.check(ctx, function, name+":"+*out.Version); err != nil {
				failed("%s, version %s: %v", function, *out.Version, err)
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			published[function] = *out.Version
			return nil
		})
	}
	for _, arn := range w.Versions {
		g.Go(func() error {
			qualified := arn[strings.LastIndex(arn, ":function:")+len(":function:"):]
			function, version, _ := strings.Cut(strings.TrimPrefix(qualified, w.Prefix), ":")
			if err := t.check(ctx, function, arn); err != nil {
				failed("%s, version %s: %v", function, version, err)
			}
			return nil
		})
	}
	_ = g.Wait() // no part of it fails
	slices.Sort(faults)
	return published, faults
}

// check calls a version until it answers well, its patience ends or the total time is over.
func (t tester) check(ctx context.Context, function, version string) error {
	trial, err := trialOf(function)
	if err != nil {
		return err
	}
	end := time.Now().Add(t.patience)
	var last error
	for wait := 500 * time.Millisecond; ; wait *= 2 {
		err := t.call(ctx, version, trial)
		if err == nil {
			t.log.InfoContext(ctx, "a version answers", "version", version)
			return nil
		}
		if ctx.Err() != nil && last != nil {
			return last // the version's own answer, not the timeout
		}
		last = err
		t.log.WarnContext(ctx, "a version does not answer well", "version", version, "cause", err.Error())
		if time.Now().Add(wait).After(end) {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

// call calls a version once, and judges its answer.
func (t tester) call(ctx context.Context, version string, trial trial) error {
	if err := ctx.Err(); err != nil {
		return errors.New("was not called: the time for all versions is over")
	}
	out, err := t.api.Invoke(ctx, &lambdaapi.InvokeInput{FunctionName: &version, Payload: trial.event})
	if err != nil {
		return fmt.Errorf("cannot be called: %w", err)
	}
	if out.FunctionError != nil {
		var e struct {
			Type    string `json:"errorType"`
			Message string `json:"errorMessage"`
		}
		_ = json.Unmarshal(out.Payload, &e) // without a text, the kind of error has to do
		return fmt.Errorf("failed: %s %s %s", aws.ToString(out.FunctionError), e.Type, e.Message)
	}
	return trial.judge(out.Payload)
}
