// Package fleet simulates a fleet of boxes that calls the local service, with real tokens, jittered polls, entity
// tags, reports and Retry-After. It shows live how many boxes are told which version. For a rollout, it compares the
// boxes' own states with the service's counts. See scripts/fleet.
package fleet

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"wavegate/scripts/local/devissuer"
)

const usage = `usage: scripts/fleet [--boxes 100] [--interval 5s] [option]...

  --boxes N         how many boxes poll
  --interval T      how often each one does, for example 5s or 1m; 0: as the service asks
  --bell            they call the bell at that interval, and poll if it rings or as the service asks
  --edge-type T     their edge type; by default, gateway-x
  --channel C       the channel that they follow; by default, stable
  --organization O  the organization that they belong to; by default, acme
  --plants N        they are in N factories of that organization, plant-01, plant-02 and so on; by default, in none
  --prefix P        their ids are P0001, P0002 and so on; by default, P is box-
  --tokens DIR      registers no boxes, and uses those with tokens from wavegate register --make-tokens DIR
  --url U           the address of the service; by default, http://127.0.0.1 at $PORT or 8080
  --for T           ends after that time; by default, when interrupted
  --download        they download each version, and compare its digest; for artifacts that the service keeps

What happens to boxes that are told a new version. Percentages are 0 by default; the other boxes install it immediately:

  --fail P          percent that cannot install it, and report that
  --brick P         percent that die from it without a report
  --revert P        percent that run it for one poll and fall back to the version before
  --defer P         percent where a person puts it off for an hour
  --fail-code C     why they fail, for example space or boot; by default, each box has its own reason
  --fail-revision R they are those with hardwareRevision=R, and the others have A; by default, boxes have no attribute
  --brick-after T   how long they run it before they die; by default, 0
  --slower P        percent by which their cycles take longer with it; such boxes run the client for makers, which says so
`

// A plan describes the fleet.
type plan struct {
	boxes, plants                   int
	interval, length                time.Duration
	edgeType, channel, organization string
	prefix, url, tokens             string
	bell, download                  bool
	slower                          share
	chances                         chances
}

// Run simulates the fleet of the arguments until the context ends, and shows it. It returns the exit code: 0, 1 if
// the fleet cannot start, 2 if the arguments are wrong.
func Run(ctx context.Context, args []string, out *os.File, problems io.Writer) int {
	p, err := parse(args, problems)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		_, _ = fmt.Fprintln(problems, err)
		return 2
	}
	if p.length > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.length)
		defer cancel()
	}
	issuers, err := devissuer.Load("")
	if err == nil {
		err = play(ctx, p, issuers, newScreen(out), func() {})
	}
	if err != nil {
		_, _ = fmt.Fprintln(problems, "fleet:", err)
		return 1
	}
	return 0
}

// Play is like Run, but shows nothing. It calls settled as soon as each box was told a version.
func Play(ctx context.Context, args []string, settled func()) error {
	p, err := parse(args, io.Discard)
	if err != nil {
		return err
	}
	issuers, err := devissuer.Load("")
	if err != nil {
		return err
	}
	return play(ctx, p, issuers, nil, settled)
}

func parse(args []string, problems io.Writer) (plan, error) {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	var p plan
	interval := "5s"
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	flags.SetOutput(problems)
	flags.Usage = func() { _, _ = fmt.Fprint(problems, usage) }
	flags.IntVar(&p.boxes, "boxes", 100, "")
	flags.StringVar(&interval, "interval", interval, "")
	flags.StringVar(&p.edgeType, "edge-type", "gateway-x", "")
	flags.StringVar(&p.channel, "channel", "stable", "")
	flags.StringVar(&p.organization, "organization", "acme", "")
	flags.IntVar(&p.plants, "plants", 0, "")
	flags.StringVar(&p.prefix, "prefix", "box-", "")
	flags.StringVar(&p.url, "url", "http://127.0.0.1:"+port, "")
	flags.StringVar(&p.tokens, "tokens", "", "")
	flags.BoolVar(&p.bell, "bell", false, "")
	flags.BoolVar(&p.download, "download", false, "")
	flags.Var(&p.slower, "slower", "")
	p.chances.flags(flags)
	flags.DurationVar(&p.length, "for", 0, "")
	if err := flags.Parse(args); err != nil {
		return p, err
	}
	if _, err := strconv.Atoi(interval); err == nil {
		interval += "s" // a bare number is seconds
	}
	var err error
	switch p.interval, err = time.ParseDuration(interval); {
	case err != nil || p.interval < 0:
		return p, fmt.Errorf("--interval %s is not a duration", interval)
	case flags.NArg() > 0:
		return p, fmt.Errorf("not an option: %s", flags.Arg(0))
	case p.plants < 0 || p.plants > 99:
		return p, errors.New("--plants must be from 0 to 99")
	case p.boxes < 1 || p.boxes > 100_000:
		return p, errors.New("--boxes must be from 1 to 100000")
	}
	p.url = strings.TrimSuffix(p.url, "/")
	return p, p.chances.check()
}

// play registers the boxes and makes them poll until the context ends. The screen may be nil.
func play(ctx context.Context, p plan, issuers *devissuer.Issuers, show *screen, settled func()) error {
	client := &http.Client{
		Timeout: 30 * time.Second,
		// The gateway runs ten processes of a function; more calls at once would only wait there.
		Transport: &http.Transport{MaxConnsPerHost: 16, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute},
	}
	var boxes []*box
	var err error
	if p.tokens != "" {
		boxes, err = withTokens(p, client)
	} else {
		boxes, err = register(ctx, p, client, issuers, show)
	}
	if err != nil {
		return err
	}
	seen := newTally(boxes)
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, b := range boxes {
		b.seen = seen
		wg.Go(func() {
			if p.bell || p.slower > 0 {
				b.listen(ctx, p)
			} else {
				b.run(ctx)
			}
		})
	}
	wg.Go(func() {
		for sleep(ctx, redraw) {
			if seen.picture().silent == 0 {
				settled()
				return
			}
		}
	})
	if show == nil {
		return nil
	}
	asking := newWatch(p, client, issuers)
	wg.Go(func() { asking.run(ctx) })
	show.follow(ctx, p, seen, asking)
	wg.Wait()
	show.end(p, seen)
	return nil
}
