// Command polls measures what a box's poll takes and costs: time, bytes on the wire, requests and
// capacity units of DynamoDB; and how many requests a promotion makes, for fleets of very different
// sizes. Units are those that DynamoDB Local reports, so they need the JDK that it runs under.
// LONG=1 goes on to a fleet of a million, which takes some minutes to register.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/scripts/local/store"
	"wavegate/shared/auth"
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
	reference, err := store.Reference(ctx, store.ReferenceOptions{Progress: os.Stderr})
	if missing, ok := errors.AsType[*store.MissingError](err); ok {
		fmt.Println("\nUnits and promotions are left out:", missing)
		return nil
	}
	if err != nil {
		return err
	}
	defer reference.Close()
	return units(ctx, functions, reference)
}

// A world is a running service with a channel that boxes follow.
type world struct {
	*service.Service
	owner string // a platform owner's Authorization header
	boxes []box
}

// A box is one that may poll.
type box struct{ id, bearer string }

// channelPath is that of the channel that all boxes follow.
const channelPath = "/api/ota/release-channels/gateway-x/stable"

// start runs the service on a store (nil: the embedded one), with a published channel and a few
// boxes. keys is where its tokens' keys are for as long as it runs.
func start(ctx context.Context, functions, keys string, on *store.Store, boxes int) (*world, error) {
	issuers, err := devissuer.Load(keys)
	if err != nil {
		return nil, err
	}
	s, err := service.Start(ctx, service.Options{Functions: functions, Issuers: issuers, Store: on,
		Log: func(function, line string) {
			if strings.Contains(line, `"level":"ERROR"`) {
				fmt.Fprintln(os.Stderr, function+":", line)
			}
		},
		// What is measured is polls; nobody is to meet their limit.
		Environment: func(string) []string { return []string{"LIMIT_USER=30000", "LIMIT_ORGANIZATION=30000"} }})
	if err != nil {
		return nil, err
	}
	w := &world{Service: s}
	if err := w.fill(ctx, boxes); err != nil {
		s.Stop()
		return nil, err
	}
	return w, nil
}

func (w *world) fill(ctx context.Context, boxes int) (err error) {
	if w.owner, err = w.Bearer("olga", "wavegate", auth.PlatformOwner); err != nil {
		return err
	}
	for path, version := range map[string]string{channelPath: "1.0.0", "/api/ota/release-channels/gateway-x/canary": "1.1.0"} {
		body := fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://artifacts.example/gateway-x/%s.tar.gz","sha256":"%064d"}`, version, version, 0)
		if err := w.put(ctx, path, body); err != nil {
			return err
		}
	}
	for i := range boxes {
		b := box{id: fmt.Sprintf("box-%04d", i+1)}
		if b.bearer, err = w.Bearer(b.id, "", auth.Edge); err != nil {
			return err
		}
		if err := w.put(ctx, "/api/edges/"+b.id, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`); err != nil {
			return err
		}
		w.boxes = append(w.boxes, b)
	}
	return nil
}
