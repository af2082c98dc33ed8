// Command browser looks at the service with a real browser, as it is served below a stage's path.
//
// The page that shows the contract, as wide as a desk and as narrow as a phone: it must show every
// operation, report no error, ask nothing of another host and not be wider than its window. And calls
// from pages of other origins: the two that are allowed read, write and see the headers they need; one
// that is not sees the gateway's own refusals, and nothing else.
//
// And the operator's page, with a fleet in the middle of a failing rollout; see operate.
//
//	./scripts/lab/browser/run      pictures of what it saw are left in .dev/browser
//
// Needs Chromium or Chrome, and the page's renderer (./scripts/contract docs).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/chromedp/chromedp"

	"wavegate/scripts/local/service"
	"wavegate/shared/platform/setting"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	pictures := flag.String("screenshots", "", "a directory: only take pictures of the operator's page")
	boxes := flag.Int("boxes", 3000, "how many boxes are on those pictures")
	slow := flag.Bool("slow", false, "whether those pictures show ten minutes, which takes as long")
	flag.Parse()
	err := run(ctx, *pictures, *boxes, *slow)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, pictures string, boxes int, slow bool) error {
	browser, err := findBrowser()
	if err != nil {
		return err
	}
	functions, err := service.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	one, other, stranger := httptest.NewServer(http.HandlerFunc(blank)), httptest.NewServer(http.HandlerFunc(blank)), httptest.NewServer(http.HandlerFunc(blank))
	defer one.Close()
	defer other.Close()
	defer stranger.Close()
	s, err := service.Start(ctx, service.Options{
		Functions: functions, Prefix: "/prod", Origins: []string{one.URL, other.URL},
		// The guard looks as often as it is told to, and a move shows at the next poll.
		Environment: func(string) []string {
			return []string{setting.GuardIntervalSeconds.Assign(1), setting.ChannelCacheSeconds.Assign(0)}
		},
	})
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := s.Seed(ctx); err != nil {
		return err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser))
	if os.Geteuid() == 0 { // Chromium refuses to run as root with its sandbox on
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	if pictures != "" {
		return screenshots(ctx, s, pictures, boxes, slow)
	}
	faults := []error{callFrom(ctx, s, one.URL, true), callFrom(ctx, s, other.URL, true), callFrom(ctx, s, stranger.URL, false)}
	for _, width := range widths {
		faults = append(faults, look(ctx, s.URL, width))
	}
	operated, err := operate(ctx, s, stranger.URL)
	if err := errors.Join(append(faults, err)...); err != nil {
		return err
	}
	fmt.Printf("ok  	in the browser: %s\n", operated)
	fmt.Printf("ok  	in the browser: the contract's page at %d and %d px, calls from pages of two origins that may and one that may not\n", widths[0], widths[1])
	return nil
}

func blank(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte(`<!doctype html><title>A page</title><link rel="icon" href="data:,">`))
}

// findBrowser finds a browser by the names that systems give it.
func findBrowser() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Chromium (apt-get install chromium, brew install chromium)")
}

// patience bounds what is done in one tab, the browser's start included.
const patience = 5 * time.Minute

// inTab does something in a tab of its own.
func inTab(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, closeTab := chromedp.NewContext(ctx)
	defer closeTab()
	return do(ctx)
}
