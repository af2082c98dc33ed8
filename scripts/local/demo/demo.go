// Package demo shows the service at work: fleets of simulated boxes, a rollout that goes well, three that the guard
// halts, and the recall of a production method. See scripts/demo.
package demo

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"sync"
	"syscall"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/fleet"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/platform/setting"
)

const usage = `usage: scripts/demo [--no-open]

  --no-open   only prints the page's address; otherwise a browser opens it if there is a desktop

PORT is the port of the service, on loopback; 8080 if it is not set.
`

// Run shows the demo until the context ends. It returns the exit code: 0, 1 if the demo cannot start, 2 if the arguments are
// wrong.
func Run(ctx context.Context, args []string, out, problems io.Writer) int {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(problems)
	flags.Usage = func() { _, _ = fmt.Fprint(problems, usage) }
	functions := flags.String("functions", ".dev/functions", "")
	quiet := flags.Bool("no-open", false, "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		_, _ = fmt.Fprintln(problems, "not an option: "+flags.Arg(0))
		flags.Usage()
		return 2
	}
	show := open
	if *quiet {
		show = func(string) {}
	}
	if err := play(ctx, *functions, out, show); err != nil && ctx.Err() == nil {
		_, _ = fmt.Fprintln(problems, "demo:", err)
		return 1
	}
	return 0
}

// A demo is a running service and its output.
type demo struct {
	url   string
	token func(devissuer.Claims) (string, error)
	out   io.Writer
}

// play returns after the context has ended, or with an error. Everything that it started has ended by then.
func play(ctx context.Context, functions string, out io.Writer, show func(address string)) error {
	began := time.Now()
	port := cmp.Or(os.Getenv("PORT"), "8080")
	s, err := service.Start(ctx, service.Options{
		Functions: functions, Address: net.JoinHostPort("127.0.0.1", port), People: []devissuer.Claims{olga, anna}, Schedule: true, Every: looks,
		Environment: func(string) []string {
			every := int(interval.Seconds())
			return []string{setting.GuardIntervalSeconds.Assign(int(looks.Seconds())), setting.ChannelCacheSeconds.Assign(0),
				setting.PollIntervalSeconds.Assign(every), setting.IdlePollIntervalSeconds.Assign(every)}
		},
	})
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %s is in use; choose another one: PORT=8090 ./scripts/demo", port)
	}
	if err != nil {
		return err
	}
	defer s.Stop()
	d := &demo{s.URL, s.Token, out}
	ctx, cancel := context.WithCancel(ctx)
	var fleets sync.WaitGroup
	defer fleets.Wait()
	defer cancel()
	d.say("starting %s boxes in %d factories; this takes half a minute", grouped(boxes*len(stories)), plants)
	if err := d.prepare(ctx); err != nil {
		return err
	}
	if err := d.startFleets(ctx, &fleets); err != nil {
		return err
	}
	opens, err := d.closePlant(ctx)
	if err != nil {
		return err
	}
	rollouts := make([]string, len(stories))
	for i, story := range stories {
		if rollouts[i], err = d.begin(ctx, story); err != nil {
			return err
		}
	}
	recall, err := d.recall(ctx)
	if err != nil {
		return err
	}
	address := d.address(olga)
	d.introduce(time.Since(began), address, recall, opens)
	show(address)
	return d.follow(ctx, rollouts)
}

// address returns the page's address, which signs a person in.
func (d *demo) address(person devissuer.Claims) string {
	return d.url + "/console?" + url.Values{"iss": {devissuer.People}, "login_hint": {person.User}}.Encode()
}

// prepare makes the factories, and publishes the versions that the boxes run at first.
func (d *demo) prepare(ctx context.Context) error {
	for i := range plants {
		body := fmt.Sprintf(`{"organizationId":"acme","name":"Plant %d"}`, i+1)
		if _, err := d.call(ctx, olga, http.MethodPut, fmt.Sprintf("/api/factories/plant-%02d", i+1), body, nil); err != nil {
			return err
		}
	}
	for _, story := range stories {
		if err := d.publish(ctx, story.channel(), story.edgeType, before); err != nil {
			return err
		}
	}
	return nil
}

// closePlant gives the last factory a window that begins in some twelve hours.
func (d *demo) closePlant(ctx context.Context) (opens time.Time, err error) {
	opens = time.Now().UTC().Truncate(time.Hour).Add(12 * time.Hour)
	body := fmt.Sprintf(`{"organizationId":"acme","name":"Plant %d","updates":{"timeZone":"Etc/UTC","windows":[{"from":%q,"to":%q}]}}`,
		plants, opens.Format(clock), opens.Add(2*time.Hour).Format(clock))
	_, err = d.call(ctx, anna, http.MethodPut, fmt.Sprintf("/api/factories/plant-%02d", plants), body, nil)
	return opens, err
}

const clock = "15:04"

// startFleets returns when each box runs its channel's version.
func (d *demo) startFleets(ctx context.Context, running *sync.WaitGroup) error {
	settled := make(chan error, 2*len(stories)) // each fleet settles and ends once
	for _, story := range stories {
		running.Go(func() {
			if err := fleet.Play(ctx, story.arguments(d.url), func() { settled <- nil }); err != nil {
				settled <- err
			}
		})
	}
	for range stories {
		select {
		case err := <-settled:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// begin starts a story's rollout and returns its id.
func (d *demo) begin(ctx context.Context, story story) (string, error) {
	if err := d.publish(ctx, story.edgeType+"/canary", story.edgeType, target); err != nil {
		return "", err
	}
	body := fmt.Sprintf(`{"edgeType":%q,"channel":"stable","targetVersion":%q,"policy":%s}`, story.edgeType, target, story.policy)
	header, err := d.call(ctx, mia, http.MethodPost, "/api/ota/rollouts", body, nil)
	if err != nil {
		return "", err
	}
	id := path.Base(header.Get("Location"))
	if story.raise {
		_, err = d.call(ctx, mia, http.MethodPatch, "/api/ota/rollouts/"+id, `{"staged_percent":10,"reason":"The night shift is waiting for it"}`, nil)
	}
	return id, err
}

// publish publishes a version whose bytes the service keeps; the boxes download them.
func (d *demo) publish(ctx context.Context, channel, edgeType, version string) error {
	sum, err := d.upload(ctx, edgeType, edgeType+"-"+version+".img", bytes.Repeat([]byte(edgeType+" "+version+"\n"), imageLines))
	if err == nil {
		_, err = d.call(ctx, mia, http.MethodPut, "/api/ota/release-channels/"+channel, fmt.Sprintf(`{"currentVersion":%q,"sha256":%q}`, version, sum), nil)
	}
	return err
}

// upload sends a file to the service's store, and returns its digest.
func (d *demo) upload(ctx context.Context, edgeType, name string, image []byte) (string, error) {
	sum := fmt.Sprintf("%x", sha256.Sum256(image))
	path := "/api/ota/artifacts/" + edgeType + "/" + sum
	var asked struct{ Upload *artifact.Upload }
	if _, err := d.call(ctx, mia, http.MethodPut, path, fmt.Sprintf(`{"sizeBytes":%d,"filename":%q}`, len(image), name), &asked); err != nil || asked.Upload == nil {
		return sum, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, asked.Upload.URL, bytes.NewReader(image))
	if err != nil {
		return "", err
	}
	for name, value := range asked.Upload.Headers {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the store answers %d to %s", res.StatusCode, name)
	}
	_, err = d.call(ctx, mia, http.MethodPatch, path, `{"state":"kept"}`, nil)
	return sum, err
}
