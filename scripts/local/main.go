// Command local runs the service on this machine; see scripts/dev, which builds and starts it. With the argument
// token it prints an access token instead, with fleet it simulates a fleet of boxes, and with demo it shows the
// service with fleets and rollouts. There is a script for each.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"wavegate/scripts/local/bus"
	"wavegate/scripts/local/demo"
	"wavegate/scripts/local/fleet"
	"wavegate/scripts/local/service"
	"wavegate/shared/access/token"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/dynamolocal"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "token" {
		os.Exit(printToken(os.Args[2:], os.Stdout, os.Stderr))
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "fleet":
			os.Exit(fleet.Run(ctx, os.Args[2:], os.Stdout, os.Stderr))
		case "demo":
			os.Exit(demo.Run(ctx, os.Args[2:], os.Stdout, os.Stderr))
		}
	}
	functions := flag.String("functions", ".dev/functions", "the links that ./scripts/build local makes")
	flag.Parse()
	if err := run(ctx, *functions); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "dev:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, functions string) error {
	port := cmp.Or(os.Getenv("PORT"), "8080")
	address := "127.0.0.1:" + port
	if err := check(); err != nil {
		return err
	}
	every := guard.Interval(setting.NewValues(setting.GuardIntervalSeconds))
	db, err := openStore(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	passed := settings(os.Environ())
	out := &console{to: os.Stderr, all: os.Getenv("LOGS") == "all"}
	s, err := service.Start(ctx, service.Options{
		Functions:      functions,
		Address:        address,
		Bell:           "127.0.0.1:" + beside(port, 1),
		Door:           "127.0.0.1:" + beside(port, 2),
		Artifacts:      "127.0.0.1:" + beside(port, 3),
		ArtifactFolder: artifactFolder(),
		Prefix:         os.Getenv("PREFIX"),
		DDIRoot:        true,
		ForeignTokens:  true,
		Origins:        lambdahttp.Origins(os.Getenv(string(setting.CORSOrigins))),
		Store:          db,
		Environment:    func(string) []string { return passed },
		Log:            out.line,
		Access:         out.access,
		Schedule:       true,
		Every:          every,
	})
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s or one of the ports of the bell, the door and the artifacts after it is in use; choose another port: PORT=8090 ./scripts/dev", address)
	}
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := seed(ctx, s); err != nil {
		return err
	}
	if err := events(ctx, s); err != nil {
		return err
	}
	out.open()
	fmt.Printf("ready %s\n", s.URL)
	fmt.Printf(hints, s.URL, s.BellURL, s.DoorURL, s.ArtifactURL)
	<-ctx.Done()
	return nil
}

// hints are the commands to try first.
const hints = `
  token=$(./scripts/token --user ann --org acme --role platform_owner)
  curl -H "Authorization: Bearer $token" %[1]s/api/ota/release-channels/gateway-x/stable
  curl -H "Authorization: Bearer $token" %[1]s/api/factories/munich-1
  ./scripts/wavegate login %[1]s --as ann && ./scripts/wavegate status

The operator's page is at %[1]s/console; sign in as olga.
The contract is at %[1]s/openapi.yaml, and in a readable form at %[1]s/docs
Boxes that poll with bell=true are told to listen to the bell at %[2]s
Boxes with tokens of their own may also poll and report at the door at %[3]s
Artifacts that the service keeps are downloaded from %[4]s
`

// artifactFolder is where the artifacts of a store that keeps its tables are; empty: they are removed at the end.
func artifactFolder() string {
	if data := os.Getenv("DATA_DIR"); data != "" {
		return filepath.Join(data, "artifacts")
	}
	return ""
}

// beside returns the port of the bell or the door: so many after the API's. If the API takes any free port, so do they.
func beside(port string, after int) string {
	n, err := strconv.Atoi(port)
	if err != nil || n == 0 {
		return port
	}
	return strconv.Itoa(n + after)
}

// openStore chooses the store as scripts/dev documents it.
func openStore(ctx context.Context) (*dynamolocal.Store, error) {
	if endpoint := os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"); endpoint != "" {
		return dynamolocal.External(endpoint), nil
	}
	kind, data := os.Getenv("STORE"), os.Getenv("DATA_DIR")
	switch kind {
	case "dynamodb-local":
		return dynamolocal.Reference(ctx, dynamolocal.ReferenceOptions{DataDir: data, Progress: os.Stderr})
	case "", "embedded":
		if data != "" {
			return nil, errors.New("the embedded store keeps nothing; DATA_DIR needs STORE=dynamodb-local")
		}
		return dynamolocal.Embedded()
	}
	return nil, fmt.Errorf("STORE=%s is unknown; it is embedded (the default) or dynamodb-local", kind)
}

// events writes the events of an event bus, if EVENTS asks for them.
func events(ctx context.Context, s *service.Service) error {
	switch to := os.Getenv("EVENTS"); to {
	case "":
		return nil
	case "-":
		f, err := bus.Follow(ctx, s.DB, os.Stdout)
		if err != nil {
			return err
		}
		go func() {
			if err := f.Run(ctx, 200*time.Millisecond); err != nil {
				fmt.Fprintln(os.Stderr, "dev: events:", err)
			}
		}()
		return nil
	default:
		return fmt.Errorf("EVENTS=%s is unknown; it must be - or unset", to)
	}
}

func seed(ctx context.Context, s *service.Service) error {
	switch kind := os.Getenv("SEED"); {
	case kind == "none":
		return nil
	case kind != "":
		return fmt.Errorf("SEED=%s is unknown; it must be none or unset", kind)
	case os.Getenv(token.Setting) != "":
		fmt.Fprintf(os.Stderr, "dev: %s is set, so the local tokens are not trusted and nothing is seeded\n", token.Setting)
		return nil
	}
	return s.Seed(ctx)
}
