// Package run is one run of the command: its options, what it says and asks, the service that it calls, and the exit
// code with which it ends. It makes the commands of the other packages, of which many only read, list, set or end
// something.
package run

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/login"
	"wavegate/scripts/operator/terminal"
	"wavegate/scripts/operator/tokenfile"
)

// An Environment is the surroundings in which the command runs.
type Environment struct {
	terminal.Terminal
	Getenv func(string) string
	// Files keep the profiles and sessions. Cache is a directory for data that can be lost.
	Files login.Files
	Cache string
	HTTP  *http.Client
	// Disk holds the token files.
	Disk tokenfile.Disk
	// Open shows an address in the person's browser.
	Open func(ctx context.Context, address string) error
	// Patience limits the total wait of a call for the service, and Reach the time that it tries to reach it.
	Patience, Reach time.Duration
	// After calls a function after a time, unless it is stopped first.
	After func(d time.Duration, do func()) (stop func())
}

// Process is the environment of this process.
func Process() Environment {
	dir, cache := os.Getenv("WAVEGATE_CONFIG_DIR"), ""
	if dir != "" {
		cache = filepath.Join(dir, "cache")
	} else {
		if home, err := os.UserConfigDir(); err == nil {
			dir = filepath.Join(home, "wavegate")
		}
		if home, err := os.UserCacheDir(); err == nil {
			cache = filepath.Join(home, "wavegate")
		}
	}
	return Environment{
		Terminal: terminal.Standard(), Getenv: os.Getenv, Files: login.Files{Dir: dir}, Cache: cache,
		HTTP: &http.Client{Timeout: 35 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		Open: terminal.Browse, Patience: 15 * time.Second, Reach: 2 * time.Second,
		After: func(d time.Duration, do func()) func() {
			timer := time.AfterFunc(d, do)
			return func() { timer.Stop() }
		},
	}
}

// A Run is one run of the command.
type Run struct {
	Environment
	Profile string
	JSON    bool
	Confirm string
	Plain   bool
	Quiet   bool
	// Began is set once the arguments were understood.
	Began   bool
	yes     bool
	noColor bool
	// Named turn what a person writes for a word of a usage into the id that the API has, such as a method's name.
	Named map[string]func(ctx context.Context, c *Call, i int) error
	// service is the client of the service, and unable why it cannot be called.
	service *api.Client
	unable  error
	// failed is the reason of the last retry.
	mu     sync.Mutex
	failed string
}

// Service is the address of the service that is called.
func (r *Run) Service() string { return r.service.URL }

// Cached are files that can be lost.
func (r *Run) Cached() login.Files { return login.Files{Dir: r.Cache} }

// Flags declares the options of all commands.
func (r *Run) Flags(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	f.StringVar(&r.Profile, "profile", r.Getenv("WAVEGATE_PROFILE"), "the service to use, by the name given at login; else WAVEGATE_PROFILE, or the default one")
	f.BoolVar(&r.JSON, "json", false, "print one JSON document, or with watch one per line; problem documents go to stderr")
	f.BoolVarP(&r.yes, "yes", "y", false, "answer yes to yes-or-no questions")
	f.StringVar(&r.Confirm, "confirm", "", "the `name` that a question asks for")
	f.BoolVar(&r.Plain, "plain", false, "print lines, and never redraw")
	f.BoolVar(&r.noColor, "no-color", r.Getenv("NO_COLOR") != "", "use no colour")
	f.BoolVarP(&r.Quiet, "quiet", "q", false, "do not report what was done")
}

// A Call is a run of a command that calls the service.
type Call struct {
	*Run
	*api.Client
	Args []string
}

// Call prepares calls to the service. If that is not possible, for example because nobody is signed in, every question
// and every call fails with the reason.
func (r *Run) Call(args []string) *Call {
	c := &api.Client{HTTP: r.HTTP, Patience: r.Patience, Reach: r.Reach, Failed: r.Again}
	c.Trying = func() func() { return r.Slow(c.URL) }
	if r.unable = r.connect(c); r.unable != nil {
		c.Token = func(context.Context, bool) (string, error) { return "", r.unable }
	}
	r.service = c
	return &Call{r, c, args}
}

// connect gives a client the address and the token of the profile. WAVEGATE_TOKEN and WAVEGATE_URL take precedence.
func (r *Run) connect(c *api.Client) (err error) {
	address, token := r.Getenv("WAVEGATE_URL"), r.Getenv("WAVEGATE_TOKEN")
	if address == "" || token == "" {
		name, profile, err := r.Files.Profile(r.Profile)
		if err != nil {
			return err
		}
		if address != "" {
			return Fail(Misused, "WAVEGATE_URL needs WAVEGATE_TOKEN; your session is for another service")
		}
		address = profile.URL
		c.Token = r.Files.Tokens(r.HTTP, name)
	}
	if token != "" {
		c.Token = func(_ context.Context, renew bool) (string, error) {
			if renew {
				return "", login.ErrSignIn
			}
			return token, nil
		}
	}
	if c.URL, err = login.Service(address); err != nil {
		return Fail(Misused, "%w", err)
	}
	return nil
}

// Lengthy is how long a command that makes many calls waits for the limit of calls.
const Lengthy = 5 * time.Minute

// Patiently lets the calls wait for long, because there may be many.
func (c *Call) Patiently() *Call {
	c.Client.Patience = max(c.Client.Patience, Lengthy)
	return c
}

// Path fills the arguments into a path; see api.Path.
func (c *Call) Path(pattern string) string { return api.Path(pattern, c.Args...) }

// Get reads a resource.
func (c *Call) Get(ctx context.Context, path string) (api.Response, error) {
	return c.Do(ctx, api.Request{Path: path})
}

// Body reads a path of the API. A page may put a prefix, such as a deployment's, before the path that this client knows.
func (c *Call) Body(ctx context.Context, path string) ([]byte, error) {
	target, err := url.Parse(path[max(strings.Index(path, "/api/"), 0):])
	if err != nil {
		return nil, err
	}
	answer, err := c.Do(ctx, api.Request{Path: target.Path, Query: target.Query()})
	return answer.Body, err
}
