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
	w, err := start(ctx, functions, nil, 100)
	if err != nil {
		return err
	}
	defer w.Close()
	event, err := sample()
	if err != nil {
		return err
	}
	function := func(id string) error {
		answer, err := w.Function("get-manifest").Invoke(ctx, []byte(strings.ReplaceAll(event, "box-0001", id)))
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
	fmt.Printf("Polls of warm processes without a receipt (200) on the embedded store, %d each.\n\n", pollsTimed)
	fmt.Println("| what | at once | polls a second | p50, ms | p99, ms |")
	fmt.Println("|---|---|---|---|---|")
	for _, way := range []struct {
		name string
		poll func(id string) error
	}{{"the function alone", function}, {"through the local gateway", w.poll}} {
		for _, callers := range []int{1, 8} {
			took, each, err := timed(w, callers, way.poll)
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
func timed(w *world, callers int, poll func(id string) error) (time.Duration, []time.Duration, error) {
	for range 3 * callers { // processes and connections that are not there yet are not measured
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() { _ = poll(w.boxes[i]) })
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
				if err := poll(w.boxes[i%len(w.boxes)]); err != nil {
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
