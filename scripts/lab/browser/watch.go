package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A watcher notes what a tab reports and asks for.
type watcher struct {
	mu    sync.Mutex
	found []error
}

// watch notes everything that a tab should not do while it shows what lies at the URL.
func watch(ctx context.Context, url string) (*watcher, error) {
	w := &watcher{}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			w.note("%s %s", e.ExceptionDetails.Text, said(e.ExceptionDetails.Exception))
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
				w.note("the console says: %s", said(e.Args...))
			}
		case *log.EventEntryAdded: // what the browser itself reports, a broken policy among it
			w.note("the browser says: %s: %s", e.Entry.Level, e.Entry.Text)
		case *network.EventRequestWillBeSent:
			asked := e.Request.URL
			if !strings.HasPrefix(asked, url+"/") && !strings.HasPrefix(asked, "data:") && !strings.HasPrefix(asked, "blob:") {
				w.note("it asks for %s", asked)
			}
		case *network.EventResponseReceived:
			if e.Response.Status >= 400 {
				w.note("%s was answered with %d", e.Response.URL, e.Response.Status)
			}
		case *network.EventLoadingFailed:
			w.note("something was not loaded: %s", e.ErrorText)
		}
	})
	return w, err
}

// said are JavaScript's values as a person reads them.
func said(values ...*runtime.RemoteObject) string {
	var all []string
	for _, v := range values {
		if v != nil {
			all = append(all, cmp.Or(v.Description, string(v.Value)))
		}
	}
	return strings.Join(all, " ")
}

func (w *watcher) note(format string, values ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.found = append(w.found, fmt.Errorf(format, values...))
}

func (w *watcher) faults() []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.found)
}

// complaints notes what a page's own code does wrong: exceptions, what it writes to the console, and what its
// policy keeps it from. Answers of the service are not among them.
func complaints(ctx context.Context) (*watcher, error) {
	w := &watcher{}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			w.note("%s %s", e.ExceptionDetails.Text, said(e.ExceptionDetails.Exception))
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
				w.note("the console says: %s", said(e.Args...))
			}
		case *log.EventEntryAdded:
			if e.Entry.Source != log.EntrySourceNetwork {
				w.note("the browser says: %s: %s", e.Entry.Level, e.Entry.Text)
			}
		}
	})
	return w, err
}

// frames lists the addresses of the frames that a page holds.
func frames(ctx context.Context) (addresses []string, err error) {
	r, err := chromedp.Call(ctx, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return nil, err
	}
	for _, child := range r.FrameTree.ChildFrames {
		addresses = append(addresses, child.Frame.URL)
	}
	return addresses, nil
}
