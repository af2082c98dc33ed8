package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/scripts/local/service"
)

// pollsTimed is how many polls a row of the table is of.
const pollsTimed = 4000

// timeAndBytes measures on the embedded store.
func timeAndBytes(ctx context.Context, functions string) error {
	keys, err := os.MkdirTemp("", "wavegate-polls")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(keys) }()
	w, err := start(ctx, functions, keys, nil, 100)
	if err != nil {
		return err
	}
	defer w.Stop()
	event, err := sample()
	if err != nil {
		return err
	}
	function := func(ctx context.Context, b box) error {
		answer, err := w.Function("get-manifest").Invoke(ctx, []byte(strings.ReplaceAll(event, "box-0001", b.id)))
		if err != nil {
			return err
		}
		var res events.APIGatewayProxyResponse
		if err := json.Unmarshal(answer, &res); err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("the function answered %s", answer)
		}
		return nil
	}
	through := func(ctx context.Context, b box) error { _, err := w.poll(ctx, b, ""); return err }

	fmt.Printf("Polls of warm processes on the embedded store, %d each.\n\n", pollsTimed)
	fmt.Println("| what | at once | polls a second | p50, ms | p99, ms |")
	fmt.Println("|---|---|---|---|---|")
	for _, way := range []struct {
		name string
		poll func(context.Context, box) error
	}{{"the function alone", function}, {"through the local gateway", through}} {
		for _, callers := range []int{1, 8} {
			took, each, err := timed(ctx, w, callers, way.poll)
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %d | %.0f | %.2f | %.2f |\n", way.name, callers, pollsTimed/took.Seconds(),
				ms(each[len(each)/2]), ms(each[len(each)*99/100]))
		}
	}
	return bytesOnTheWire(ctx, w)
}

// sample is the event of a poll.
func sample() (string, error) {
	root, err := service.Root()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, "events", "get-manifest.json"))
	return string(text), err
}

// timed polls by so many callers at once, and returns how long all took and each, the shortest first.
func timed(ctx context.Context, w *world, callers int, poll func(context.Context, box) error) (time.Duration, []time.Duration, error) {
	for range 3 * callers { // processes and connections that are not there yet are not measured
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() { _ = poll(ctx, w.boxes[i]) })
		}
		wg.Wait()
	}
	each := make([]time.Duration, pollsTimed)
	var next atomic.Int64
	var failed error
	var once sync.Once
	var wg sync.WaitGroup
	began := time.Now()
	for range callers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= pollsTimed {
					return
				}
				at := time.Now()
				if err := poll(ctx, w.boxes[i%len(w.boxes)]); err != nil {
					once.Do(func() { failed = err })
					return
				}
				each[i] = time.Since(at)
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	slices.Sort(each)
	return took, each, failed
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// bytesOnTheWire measures one poll of each kind over a connection that stands.
func bytesOnTheWire(ctx context.Context, w *world) error {
	b := w.boxes[0]
	header, err := w.poll(ctx, b, "")
	if err != nil {
		return err
	}
	fmt.Print("\nBytes of one poll on the wire: HTTP/1.1 through the local gateway, without TLS.\n\n")
	fmt.Println("| answer | request | answer |")
	fmt.Println("|---|---|---|")
	for name, etag := range map[string]string{"200": "", "304": header.Get("ETag")} {
		sent, received := wire.sent.Load(), wire.received.Load()
		if _, err := w.poll(ctx, b, etag); err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %d |\n", name, wire.sent.Load()-sent, wire.received.Load()-received)
	}
	return nil
}
