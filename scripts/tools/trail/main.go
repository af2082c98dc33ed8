// Command trail checks the chain of a production method's changes against the audit trail. See
// scripts/trail.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	chain "wavegate/shared/production/trail"
	"wavegate/shared/trail/audit"
)

const usage = `usage: WAVEGATE_TOKEN=<token> scripts/trail [--url URL] --factory F --method M [HASH]...

  --url U      the URL of the service; the default is http://127.0.0.1:8080
  --factory F  the factory
  --method M   the id of the production method
  HASH         a trailSha256 that a controller kept; each must be in the chain

The token must be of an organization admin or a platform owner. The exit code is 0 if every link holds and every
hash is in the chain, otherwise 1.
`

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Getenv("WAVEGATE_TOKEN"), os.Stdout, os.Stderr)
	cancel()
	os.Exit(code)
}

// A service is the API from which audit events are read.
type service struct{ url, factory, token string }

// run returns the exit code: 0, 1 if the chain is broken or cannot be read, 2 for wrong
// arguments.
func run(ctx context.Context, args []string, token string, out, problems io.Writer) int {
	flags := flag.NewFlagSet("trail", flag.ContinueOnError)
	flags.SetOutput(problems)
	flags.Usage = func() { fmt.Fprint(problems, usage) }
	s := service{token: token}
	flags.StringVar(&s.url, "url", "http://127.0.0.1:8080", "")
	flags.StringVar(&s.factory, "factory", "", "")
	method := flags.String("method", "", "")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if s.factory == "" || *method == "" || s.token == "" {
		flags.Usage()
		return 2
	}
	links, err := s.links(ctx, *method)
	if err != nil {
		fmt.Fprintln(problems, "trail:", err)
		return 1
	}
	return tell(out, links, flags.Args())
}

// links computes the chain of a method from its events and those of all its versions.
func (s service) links(ctx context.Context, method string) ([]chain.Link, error) {
	methodEvents, err := s.events(ctx, "production-method", method)
	if err != nil {
		return nil, err
	}
	var versionEvents []audit.Event
	for n := 1; ; n++ {
		events, err := s.events(ctx, "production-method-version", method+":"+strconv.Itoa(n))
		if err != nil {
			return nil, err
		}
		if len(events) == 0 { // numbers have no gaps, so there is no later version
			return chain.Check(methodEvents, versionEvents)
		}
		versionEvents = append(versionEvents, events...)
	}
}

func (s service) events(ctx context.Context, kind, id string) ([]audit.Event, error) {
	base, err := url.Parse(s.url)
	if err != nil {
		return nil, err
	}
	query := url.Values{"resourceType": {kind}, "resourceId": {id}, "limit": {"100"}}
	next := strings.TrimSuffix(base.Path, "/") + "/api/factories/" + url.PathEscape(s.factory) + "/audit-events?" + query.Encode()
	var all []audit.Event
	for next != "" {
		address, err := base.Parse(next)
		if err != nil {
			return nil, err
		}
		var page struct {
			Items []audit.Event `json:"items"`
			Next  string        `json:"next"`
		}
		if err := s.get(ctx, address.String(), &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		next = page.Next
	}
	return all, nil
}

func (s service) get(ctx context.Context, address string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s was answered with %d: %s", address, answer.StatusCode, body)
	}
	return json.Unmarshal(body, into)
}

// tell prints the chain and returns the exit code.
func tell(out io.Writer, links []chain.Link, kept []string) int {
	code := 0
	for _, l := range links {
		says := "holds"
		if l.Fault != "" {
			says, code = l.Fault, 1
		}
		fmt.Fprintf(out, "%s %s %s: %s\n", l.EventTime.UTC().Format(time.RFC3339), l.EventName, l.SHA256, says)
	}
	for _, hash := range kept {
		if !slices.ContainsFunc(links, func(l chain.Link) bool { return l.SHA256 == hash }) {
			fmt.Fprintf(out, "%s is not in the chain: the audit trail has changed since a controller kept this hash\n", hash)
			code = 1
		}
	}
	if code == 0 {
		fmt.Fprintf(out, "The chain holds. Links: %d; kept hashes found: %d of %[2]d.\n", len(links), len(kept))
	}
	return code
}
