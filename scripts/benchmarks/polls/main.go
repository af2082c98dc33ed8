// Command polls measures what a box's poll takes and costs: time, bytes on the wire, requests and
// capacity units of DynamoDB; and how many requests a promotion makes, for fleets of very different
// sizes. LONG=1 goes on to a fleet of a million, which takes a quarter of an hour to register.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"wavegate/scripts/benchmarks/calls"
	"wavegate/scripts/benchmarks/meter"
	"wavegate/scripts/local/service"
	"wavegate/shared/platform/dynamo/dynamolocal"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "polls:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	functions, err := service.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	if err := timeAndBytes(ctx, functions); err != nil {
		return err
	}
	counted, err := dynamolocal.Reference(ctx, dynamolocal.ReferenceOptions{Progress: os.Stderr})
	if missing, ok := errors.AsType[*dynamolocal.MissingError](err); ok {
		fmt.Fprintln(os.Stderr, "units are not compared with what DynamoDB reports:", missing)
		counted, err = dynamolocal.Embedded()
	}
	if err != nil {
		return err
	}
	defer func() { _ = counted.Close() }()
	m, err := meter.Start(counted.Endpoint)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	w, err := start(ctx, functions, dynamolocal.External(m.URL), 10)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := units(w, m); err != nil {
		return err
	}
	return promotions(ctx, w, m)
}

// A world is a running service with a channel that its boxes follow.
type world struct {
	*calls.World
	boxes []string
}

// start runs the service on a store (nil: an embedded one), with a published channel and a few boxes.
func start(ctx context.Context, functions string, on *dynamolocal.Store, boxes int) (*world, error) {
	s, err := calls.Start(ctx, calls.Options{Functions: functions, Store: on})
	if err != nil {
		return nil, err
	}
	w := &world{World: s}
	if err := w.fill(boxes); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (w *world) fill(boxes int) error {
	for channel, version := range map[string]string{"stable": "1.0.0", "canary": "1.1.0"} {
		body := fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://artifacts.example/gateway-x/%s.tar.gz","sha256":"%064d"}`, version, version, 0)
		if _, err := w.owner(http.MethodPut, "/api/ota/release-channels/gateway-x/"+channel, body); err != nil {
			return err
		}
	}
	for i := range boxes {
		id := fmt.Sprintf("box-%04d", i+1)
		if _, err := w.owner(http.MethodPut, "/api/edges/"+id, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`); err != nil {
			return err
		}
		w.boxes = append(w.boxes, id)
	}
	return nil
}

// owner makes a platform owner's call, which has to succeed.
func (w *world) owner(method, path, body string) (calls.Answer, error) {
	return w.Must(calls.Request{Caller: calls.Owner, Method: method, Path: path, Body: body})
}

func manifestPath(id string) string { return "/api/edges/" + id + "/update/manifest?installed=1.0.0" }

// poll makes a box's poll, which has to succeed.
func (w *world) poll(id string) error {
	_, err := w.Must(calls.Request{Caller: calls.Box(id), Method: http.MethodGet, Path: manifestPath(id)})
	return err
}
