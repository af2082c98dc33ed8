// Command page looks at the page that shows the contract in a real browser, as wide as a desk and as
// narrow as a phone: it must show every operation, report no error, ask nothing of another host and
// not be wider than its window.
//
//	./scripts/contract page      pictures of what it saw are left in .dev/page
//
// Needs Chromium or Chrome, and the page's renderer (./scripts/contract docs).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/chromedp/chromedp"

	"wavegate/scripts/local/service"
)

// widths are those of a desk and of a phone, in pixels.
var widths = []int64{1280, 390}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	browser, err := findBrowser()
	if err != nil {
		return err
	}
	functions, err := service.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	// Below a path, as on a stage's own URL.
	s, err := service.Start(ctx, service.Options{Functions: functions, Prefix: "/prod"})
	if err != nil {
		return err
	}
	defer s.Stop()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser))
	if os.Geteuid() == 0 { // Chromium refuses to run as root with its sandbox on
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	var faults []error
	for _, width := range widths {
		faults = append(faults, look(ctx, s.URL, width))
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	fmt.Printf("ok  	in the browser: the page shows all operations at %d and %d px, without an error and from nowhere else\n", widths[0], widths[1])
	return nil
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

// pageTimeout bounds the look at one width, the browser's start included.
const pageTimeout = 2 * time.Minute

// look opens the page in a window of the width and returns all that is wrong with it.
func look(ctx context.Context, url string, width int64) error {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	ctx, cancelTab := chromedp.NewContext(ctx)
	defer cancelTab()
	w, err := watch(ctx, url)
	if err != nil {
		return err
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(url+"/docs")); err != nil {
		return fmt.Errorf("at %d px: %w", width, err)
	}
	var faults []error
	// An operation's part has an id that ends with its name. The renderer adds them by and by.
	shown := `[...document.querySelectorAll('[id*="operation/"]')].map(e => e.id.replace(/.*operation\//, ''))`
	count := fmt.Sprintf("new Set(%s).size >= %d", shown, len(operationIDs()))
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](count)); err != nil {
		faults = append(faults, fmt.Errorf("waiting for %d operations: %w", len(operationIDs()), err))
	}
	ids, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](shown))
	faults = append(faults, err)
	for _, id := range operationIDs() {
		if !slices.Contains(ids, id) {
			faults = append(faults, fmt.Errorf("it does not show %s", id))
		}
	}
	wide, err := chromedp.Run(ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
	faults = append(faults, err)
	if wide > width {
		faults = append(faults, fmt.Errorf("it is %d px wide", wide))
	}
	faults = append(faults, picture(ctx, width))
	if err := errors.Join(append(faults, w.faults()...)...); err != nil {
		return fmt.Errorf("at %d px: %w", width, err)
	}
	return nil
}

// picture keeps what can be seen.
func picture(ctx context.Context, width int64) error {
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	dir := filepath.Join(".dev", "page")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.png", width)), png, 0o600)
}
