package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A meter stands before the store, asks it with every request what the request consumes, and adds
// that up. Functions and store know nothing of it.
type meter struct {
	url, store string
	close      func() error

	mu     sync.Mutex
	counts map[string]consumption // by operation and, where it is one, table
}

// A consumption is what requests of one kind took.
type consumption struct {
	requests int
	units    float64
}

func newMeter(ctx context.Context, store string) (*meter, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &meter{url: "http://" + l.Addr().String(), store: store}
	server := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }()
	m.close = server.Close
	m.reset()
	return m, nil
}

func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts = map[string]consumption{}
}

// of is what was consumed by requests of one kind.
func (m *meter) of(kind string) consumption {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[kind]
}

// total is what was consumed by requests whose kind begins so.
func (m *meter) total(prefix string) consumption {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all consumption
	for kind, c := range m.counts {
		if strings.HasPrefix(kind, prefix) {
			all.requests += c.requests
			all.units += c.units
		}
	}
	return all
}

// kinds lists the kinds of requests that were made.
func (m *meter) kinds() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.counts))
}

// consumed is a store's word on one table.
type consumed struct {
	TableName     string
	CapacityUnits float64
}

func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	asks := operation == "Query" || strings.HasSuffix(operation, "Item") || strings.HasSuffix(operation, "Items")
	if open := bytes.IndexByte(body, '{'); asks && open >= 0 {
		body = append([]byte(`{"ReturnConsumedCapacity":"TOTAL",`), body[open+1:]...)
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, m.store+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	out.Header = r.Header.Clone() // DynamoDB Local does not look at signatures
	res, err := http.DefaultClient.Do(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return
	}
	m.note(operation, answer)
	maps.Copy(w.Header(), res.Header)
	w.WriteHeader(res.StatusCode)
	_, _ = w.Write(answer)
}

func (m *meter) note(operation string, answer []byte) {
	var told struct{ ConsumedCapacity json.RawMessage }
	var tables []consumed
	if json.Unmarshal(answer, &told) == nil && len(told.ConsumedCapacity) > 0 {
		var one consumed
		if json.Unmarshal(told.ConsumedCapacity, &one) == nil {
			tables = []consumed{one}
		} else if err := json.Unmarshal(told.ConsumedCapacity, &tables); err != nil {
			tables = nil
		}
	}
	kind, units := operation, 0.0
	for _, t := range tables {
		units += t.CapacityUnits
	}
	if len(tables) == 1 {
		kind = fmt.Sprintf("%s %s", operation, strings.TrimPrefix(tables[0].TableName, "wavegate-"))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts[kind]
	m.counts[kind] = consumption{c.requests + 1, c.units + units}
}
