// Package fleet plays a fleet of boxes against the local service: real tokens, real polls with jitter,
// entity tags kept, reports made and Retry-After obeyed. It shows live how many boxes resolve which version,
// and what the boxes of a rollout know of themselves beside what the service says of them. See scripts/fleet.
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
  --bell            they call the bell at that interval, and poll when it rings or as the service asks
  --edge-type T     their edge type; gateway-x if not given
  --channel C       the channel that they follow; stable if not given
  --organization O  whom they belong to; acme if not given
  --plants N        they stand in N factories of that organization, plant-01, plant-02 and so on; in none if not given
  --prefix P        their ids are P0001, P0002 and so on; box- if not given
  --tokens DIR      registers none: the boxes are those whose tokens wavegate register --make-tokens DIR has made
  --url U           where the service is; http://127.0.0.1 at $PORT, or 8080, if not given
  --for T           ends after that time; if not given, when interrupted

What becomes of the boxes that a version is brought to. The others install it at once:

  --fail P          percent of them that cannot, and report so; 0 if not given, as for the others
  --brick P         percent that die of it without a word
  --revert P        percent that run it for one poll and fall back to what they had
  --defer P         percent where a person puts it off for an hour
  --fail-code C     why they cannot, for example space or boot; another reason for each box if not given
  --brick-after T   how long they run it before they die; 0 if not given
`

// A plan is what the fleet is to be.
type plan struct {
	boxes, plants                   int
	interval, length                time.Duration
	edgeType, channel, organization string
	prefix, url, tokens             string
	bell                            bool
	chances                         chances
}

// Run plays the fleet that the arguments describe until the context ends, and shows it. It returns the exit code: 0, 1 if the
// fleet cannot start, 2 if the arguments are wrong.
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

// Play plays the fleet that the arguments of Run describe until the context ends, and shows nothing. It calls settled as soon
// as each box was told a version.
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
		return p, fmt.Errorf("--interval %s is no length of time", interval)
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

// play registers the boxes and has them poll until the context ends. There may be no screen.
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
			if p.bell {
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
