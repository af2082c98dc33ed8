// Package meter stands between the store front and the store and counts what functions ask of
// DynamoDB: requests, round trips, and the read and write units that AWS would charge.
//
// Units are computed from the sizes of items by the rules of the DynamoDB Developer Guide, so that
// they are the same on every store; where a store reports what a request took, the two are compared.
// Transactions are not: DynamoDB Local reports them wrongly.
package meter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"wavegate/scripts/local/upstream"
)

// functionKey is how the access keys of functions begin; see storefront.AccessKey.
const functionKey = "Credential=LOCAL"

// A Usage is what one call asked of DynamoDB.
type Usage struct {
	Requests int
	// Rounds is how many round trips lay one behind the other: requests that were under way together
	// are one.
	Rounds      int
	Read, Write float64 // units
	// Largest is the size in bytes of the largest item that was written.
	Largest int
	// Disagreements tell where the store reports other units than the rules give.
	Disagreements []string
}

// A Meter is a running proxy in front of a store.
type Meter struct {
	URL    string
	store  *upstream.Store
	server *http.Server

	mu    sync.Mutex
	usage *Usage // of the measurement under way; nil: requests just pass
	quiet time.Duration
	batch *batch // requests that wait to go together
}

// A batch is requests of one round trip. It goes when no other has come for a while.
type batch struct {
	timer *time.Timer
	open  chan struct{}
}

// Start opens a meter on a free loopback port before the store at the endpoint.
func Start(endpoint string) (*Meter, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &Meter{URL: "http://" + l.Addr().String(), store: upstream.New(endpoint)}
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: 5 * time.Second}
	go m.server.Serve(l) //nolint:errcheck // it ends by Close
	return m, nil
}

// Close ends the meter.
func (m *Meter) Close() error {
	err := m.server.Close()
	m.store.Close()
	return err
}

// Measure counts what functions ask while do runs, which must make one call. Each request is kept
// until none has come for the quiet time; those that wait together are one round trip. So a machine
// that is slow may split a round trip in two, and never makes one of two: of several measurements
// the least is right.
func (m *Meter) Measure(quiet time.Duration, do func() error) (Usage, error) {
	m.mu.Lock()
	// What an earlier call left waiting is no part of this one's round trips.
	m.usage, m.quiet, m.batch = &Usage{}, quiet, nil
	m.mu.Unlock()
	err := do()
	m.mu.Lock()
	defer m.mu.Unlock()
	u := *m.usage
	m.usage = nil
	return u, err
}

// enter counts a request and returns what it has to wait for.
func (m *Meter) enter() (u *Usage, wait <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.usage == nil {
		return nil, nil
	}
	m.usage.Requests++
	if m.batch != nil && m.batch.timer.Stop() {
		m.batch.timer.Reset(m.quiet)
		return m.usage, m.batch.open
	}
	m.usage.Rounds++
	b := &batch{open: make(chan struct{})}
	m.batch = b
	b.timer = time.AfterFunc(m.quiet, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.batch == b {
			m.batch = nil
		}
		close(b.open)
	})
	return m.usage, b.open
}

func (m *Meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	// What opens a container's connection is no part of a call.
	counted := strings.Contains(r.Header.Get("Authorization"), functionKey) && !bytes.Contains(raw, []byte(`"warm#`))
	var u *Usage
	if counted {
		var wait <-chan struct{}
		if u, wait = m.enter(); u != nil {
			<-wait
		}
	}
	var a upstream.Answer
	if u == nil {
		a, err = m.store.Ask(r, raw)
	} else {
		a, err = m.count(r, raw, u)
	}
	if err != nil {
		m.note(func() {
			if u != nil {
				u.Disagreements = append(u.Disagreements, err.Error())
			}
		})
		panic(http.ErrAbortHandler) // net/http's way to break a connection
	}
	a.Begin(w)
	_, _ = w.Write(a.Body)
}

// count asks the store and adds up what that took, before the answer is handed on.
func (m *Meter) count(r *http.Request, raw []byte, u *Usage) (upstream.Answer, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return upstream.Answer{}, err
	}
	written := b.targets(operation)
	for i := range written {
		var err error
		if written[i].before, err = m.read(written[i]); err != nil {
			return upstream.Answer{}, err
		}
	}
	transaction := operation == "TransactWriteItems"
	if !transaction {
		raw = append([]byte(`{"ReturnConsumedCapacity":"TOTAL",`), bytes.TrimPrefix(bytes.TrimSpace(raw), []byte("{"))...)
	}
	a, err := m.store.Ask(r, raw)
	if err != nil {
		return a, err
	}
	var got reply
	if err := json.Unmarshal(a.Body, &got); err != nil {
		return a, err
	}
	var read, write float64
	largest := 0
	for _, t := range written {
		after, err := m.read(t)
		if err != nil {
			return a, err
		}
		write += t.writeUnits(after, transaction)
		largest = max(largest, after.size())
	}
	if len(written) == 0 {
		read = b.readUnits(got)
	}
	m.note(func() {
		u.Largest = max(u.Largest, largest)
		reported := got.ConsumedCapacity.CapacityUnits
		if reported != nil && a.Status == http.StatusOK && *reported != read+write {
			u.Disagreements = append(u.Disagreements, fmt.Sprintf("%s of %s: %g units by the rules, %g reported", operation, b.TableName, read+write, *reported))
			if operation == "Query" { // a count shows nothing of what it looked at
				read = *reported
			}
		}
		u.Read += read
		u.Write += write
	})
	return a, nil
}

func (m *Meter) note(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}
