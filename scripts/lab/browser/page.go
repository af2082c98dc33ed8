package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/chromedp/chromedp"
	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/shared/contract"
)

// widths are those of a desk and of a phone, in pixels.
var widths = []int64{1280, 390}

// look opens the contract's page in a window of the width and returns all that is wrong with it.
func look(ctx context.Context, url string, width int64) error {
	err := inTab(ctx, func(ctx context.Context) error {
		w, err := watch(ctx, url)
		if err != nil {
			return err
		}
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(url+"/docs")); err != nil {
			return err
		}
		faults := []error{shows(ctx, operationIDs())}
		wide, err := chromedp.Run(ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
		if wide > width {
			err = fmt.Errorf("it is %d px wide", wide)
		}
		faults = append(faults, err, whole(ctx), picture(ctx, width))
		return errors.Join(append(faults, w.faults()...)...)
	})
	if err != nil {
		return fmt.Errorf("the page at %d px: %w", width, err)
	}
	return nil
}

// shows waits until the page has a part for each of the operations. Such a part has an id that ends
// with the operation's; the renderer adds them by and by.
func shows(ctx context.Context, operations []string) error {
	const parts = `[...document.querySelectorAll('[id*="operation/"]')].map(e => e.id.replace(/.*operation\//, ''))`
	_, late := chromedp.Run(ctx, chromedp.Poll[bool](fmt.Sprintf("new Set(%s).size >= %d", parts, len(operations))))
	shown, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](parts))
	if err != nil {
		return errors.Join(late, err)
	}
	missing := slices.DeleteFunc(slices.Clone(operations), func(id string) bool { return slices.Contains(shown, id) })
	if len(missing) > 0 {
		return errors.Join(fmt.Errorf("it does not show %q", missing), late)
	}
	return nil
}

// whole finds code samples that are cut: lines that are longer than their box is wide.
func whole(ctx context.Context) error {
	const samples = `[...document.querySelectorAll('pre')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText.slice(0, 60))`
	cut, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](samples))
	if err == nil && len(cut) > 0 {
		err = fmt.Errorf("%d code samples are cut: %q", len(cut), cut)
	}
	return err
}

// picture keeps what can be seen.
func picture(ctx context.Context, width int64) error {
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	dir := filepath.Join(".dev", "browser")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("docs-%d.png", width)), png, 0o600)
}

// operationIDs lists the contract's operations.
var operationIDs = sync.OnceValue(func() []string {
	document, err := openapi3.NewLoader().LoadFromData(contract.Document)
	if err != nil {
		panic(err) // tests hold that it can be read
	}
	var ids []string
	for _, path := range document.Paths.InMatchingOrder() {
		for _, operation := range document.Paths.Value(path).Operations() {
			ids = append(ids, operation.OperationID)
		}
	}
	return ids
})
