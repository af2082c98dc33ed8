package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/scripts/lab/benchmarks/calls"
	"wavegate/scripts/local/service"
	"wavegate/scripts/samples"
	"wavegate/shared/operations"
	"wavegate/shared/testing/dynamolocal"
)

// bellCommand writes what a call of the bell and a poll take of a processor, if there is nothing new.
func bellCommand(ctx context.Context, w io.Writer) error {
	n, err := measured()
	if err != nil {
		return err
	}
	functions, err := service.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	s, err := dynamolocal.Embedded()
	if err != nil {
		return err
	}
	defer s.Close()
	p, err := startProfilerOf(ctx, calls.Options{Functions: functions, Store: s, Processes: 1, Bell: true})
	if err != nil {
		return err
	}
	defer p.Close()
	poll, ring, err := p.listener()
	if err != nil {
		return err
	}
	polled, err := p.sum(p.Function("get-manifest"), n, func() (func() error, error) { return poll, nil })
	if err != nil {
		return err
	}
	rung, err := p.sum(p.Function(operations.Bell), n, func() (func() error, error) { return ring, nil })
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Means of %d calls of a warm process, with nothing new to say: a call of the bell takes %.2f ms of a processor and logs %.0f bytes, a poll of a box that listens takes %.2f ms and logs %.0f bytes.\n",
		n, rung.CPU, rung.Logged, polled.CPU, polled.Logged)
	return nil
}

// listener makes a box that listens, and returns its poll and its call of the bell. Both are answered with 304.
func (p *profiler) listener() (poll, ring func() error, err error) {
	rows := calls.Rows()
	c, err := rows[slices.IndexFunc(rows, func(r calls.Row) bool { return r.Name() == pollCall })].Prepare(p.World)
	if err != nil {
		return nil, nil, err
	}
	c.Path, c.Header = c.Path+"&bell=true", [2]string{}
	a, err := p.Must(c)
	if err != nil {
		return nil, nil, err
	}
	var told struct{ Bell struct{ URL string } }
	if err := json.Unmarshal(a.Body, &told); err != nil {
		return nil, nil, err
	}
	at, err := url.Parse(told.Bell.URL)
	if err != nil {
		return nil, nil, err
	}
	c.Header = [2]string{"If-None-Match", a.Header.Get("ETag")}
	ring, err = p.ring(at.Path)
	return func() error { return p.same(c) }, ring, err
}

// same makes a poll that is answered with 304.
func (p *profiler) same(c samples.Call) error {
	a, err := p.Do(c)
	if err == nil && a.Status != http.StatusNotModified {
		err = fmt.Errorf("a poll was answered with %d %s", a.Status, a.Body)
	}
	return err
}

// ring is a call of the bell that is answered with 304.
func (p *profiler) ring(path string) (func() error, error) {
	call := func(tag string) (answer events.LambdaFunctionURLResponse, err error) {
		event := events.LambdaFunctionURLRequest{Version: "2.0", RawPath: path, Headers: map[string]string{"if-none-match": tag}}
		event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path = http.MethodGet, path
		text, err := json.Marshal(event)
		if err != nil {
			return answer, err
		}
		out, err := p.Function(operations.Bell).Invoke(context.Background(), text)
		return answer, errors.Join(err, json.Unmarshal(out, &answer))
	}
	first, err := call("")
	if err != nil {
		return nil, err
	}
	return func() error {
		a, err := call(first.Headers["ETag"])
		if err == nil && a.StatusCode != http.StatusNotModified {
			err = fmt.Errorf("the bell answered %d %s", a.StatusCode, a.Body)
		}
		return err
	}, nil
}
