// Command trail compares a production method with the audit trail. See scripts/trail.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"time"

	"wavegate/scripts/operator/verify"
	"wavegate/shared/production/chain"
)

const usage = `usage: WAVEGATE_TOKEN=<token> scripts/trail [--url URL] --factory F --method M [KEPT]...

  --url U      the URL of the service; the default is http://127.0.0.1:8080
  --factory F  the factory
  --method M   the id of the production method
  KEPT         what a controller kept: HASH (trailSha256), or HASH:VERSION:CONTENT with the version that it ran
               and its contentSha256; each must be in the chain

It computes the chain of the method's changes, and compares the method, its versions, their contents and the
machines of the factory with the audit trail. The token must be of an organization admin or a platform owner. The
exit code is 0 if all agrees and everything kept is in the chain, otherwise 1.
`

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Getenv("WAVEGATE_TOKEN"), os.Stdout, os.Stderr)
	cancel()
	os.Exit(code)
}

// run returns the exit code: 0, 1 if something differs or cannot be read, 2 for wrong arguments.
func run(ctx context.Context, args []string, token string, out, problems io.Writer) int {
	flags := flag.NewFlagSet("trail", flag.ContinueOnError)
	flags.SetOutput(problems)
	flags.Usage = func() { fmt.Fprint(problems, usage) }
	address := flags.String("url", "http://127.0.0.1:8080", "")
	factory := flags.String("factory", "", "")
	method := flags.String("method", "", "")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if *factory == "" || *method == "" || token == "" {
		flags.Usage()
		return 2
	}
	var kept []chain.Kept
	for _, text := range flags.Args() {
		k, err := verify.Parse(text)
		if err != nil {
			fmt.Fprintln(problems, "trail:", err)
			return 2
		}
		kept = append(kept, k)
	}
	report, err := verify.Method(ctx, getter(*address, token), *factory, strings.ToLower(*method), kept)
	if err != nil {
		fmt.Fprintln(problems, "trail:", err)
		return 1
	}
	return tell(out, report, len(kept))
}

// getter reads paths of the API. A path of a page begins as the API's own address does.
func getter(address, token string) verify.Get {
	return func(ctx context.Context, path string) ([]byte, error) {
		base, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		prefix := strings.TrimSuffix(base.Path, "/")
		target, err := base.Parse(prefix + strings.TrimPrefix(path, prefix))
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, err
		}
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
		if err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s was answered with %d: %s", target, answer.StatusCode, body)
		}
		return body, err
	}
}

// tell prints the chain and the findings, and returns the exit code.
func tell(out io.Writer, r verify.Result, kept int) int {
	for _, l := range r.Links {
		says := "holds"
		if l.Fault != "" {
			says = l.Fault
		}
		fmt.Fprintf(out, "%s %s %s: %s\n", l.EventTime.UTC().Format(time.RFC3339), l.EventName, l.SHA256, says)
	}
	for _, f := range r.Findings {
		fmt.Fprintln(out, f)
	}
	if len(r.Findings) > 0 {
		return 1
	}
	fmt.Fprintf(out, "The chain holds, and all is as it says. Links: %d; kept by machines and found: %d.\n", len(r.Links), kept)
	return 0
}
