package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/local/upstream"
)

// functionKey is the prefix of the access keys of functions; see storefront.AccessKey.
const functionKey = "Credential=LOCAL"

// A usage is the consumption of one call.
type usage struct {
	Requests int
	// Rounds counts the round trips that followed one another. Requests that were under way at the same time are one
	// round trip.
	Rounds      int
	Read, Write float64 // units
	// Disagreements lists requests for which the store reports other units than the rules.
	Disagreements []string
}

// A meter is a proxy between the store front and the store. It counts the requests that functions send to DynamoDB,
// the round trips, and the read and write units that AWS would charge.
//
// Units are computed from the sizes of items by the rules of the DynamoDB Developer Guide, so that they are the same
// on every store. If a store reports the units of a request, the meter compares them. It does not compare
// transactions: DynamoDB Local reports wrong units for them.
type meter struct {
	url   string
	store *upstream.Store

	mu    sync.Mutex
	usage *usage // of the present measurement; nil: nothing is counted
	quiet time.Duration
	batch *batch // requests that wait to be sent together
}

// A batch is the requests of one round trip. It is forwarded when no other request has arrived for a while.
type batch struct {
	timer *time.Timer
	open  chan struct{}
}

// startMeter opens a meter in front of the store at the endpoint. It ends with the test.
func startMeter(t *testing.T, endpoint string) *meter {
	t.Helper()
	m := &meter{store: upstream.New(endpoint)}
	server := httptest.NewServer(m)
	m.url = server.URL
	t.Cleanup(func() { server.Close(); m.store.Close() })
	return m
}

// measure counts the requests of functions while do runs, which must make one call. It holds each request until no
// other has come for the quiet time. The requests that it holds together are one round trip. A slow machine may split
// a round trip in two, but two never become one. So the smallest of several measurements is right.
func (m *meter) measure(quiet time.Duration, do func()) usage {
	m.mu.Lock()
	// Requests that an earlier call left waiting do not count.
	m.usage, m.quiet, m.batch = &usage{}, quiet, nil
	m.mu.Unlock()
	do()
	m.mu.Lock()
	defer m.mu.Unlock()
	u := *m.usage
	m.usage = nil
	return u
}

// enter counts a request and returns the channel that it has to wait for.
func (m *meter) enter() (u *usage, wait <-chan struct{}) {
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

func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	// The request that opens a container's connection is not part of a call.
	counted := strings.Contains(r.Header.Get("Authorization"), functionKey) && !bytes.Contains(raw, []byte(`"warm#`))
	var u *usage
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

// count sends a request to the store and adds its units.
func (m *meter) count(r *http.Request, raw []byte, u *usage) (upstream.Answer, error) {
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
	for _, t := range written {
		after, err := m.read(t)
		if err != nil {
			return a, err
		}
		write += t.writeUnits(after, transaction)
	}
	if len(written) == 0 {
		read = b.readUnits(got)
	}
	m.note(func() {
		reported := got.reported()
		if reported != nil && a.Status == http.StatusOK && *reported != read+write {
			u.Disagreements = append(u.Disagreements,
				fmt.Sprintf("%s of %s: %g units by the rules, %g reported", operation, b.TableName, read+write, *reported))
			if operation == "Query" { // the answer to a count does not show the items that were read
				read = *reported
			}
		}
		u.Read += read
		u.Write += write
	})
	return a, nil
}

func (m *meter) note(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}
