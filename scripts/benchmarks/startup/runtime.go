package main

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// A runtime is the part of the Lambda runtime's API that one call needs.
type runtime struct {
	address          string
	polled, answered chan time.Time
	close            func()
}

func newRuntime(event []byte) (*runtime, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &runtime{address: l.Addr().String(), polled: make(chan time.Time, 1), answered: make(chan time.Time, 1)}
	mux := http.NewServeMux()
	done := make(chan struct{})
	var first atomic.Bool
	first.Store(true)
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(w http.ResponseWriter, q *http.Request) {
		if !first.CompareAndSwap(true, false) {
			// The second poll, after the answer, waits for the end.
			select {
			case <-done:
			case <-q.Context().Done():
			}
			return
		}
		r.polled <- time.Now()
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "bench")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(time.Minute).UnixMilli(), 10))
		_, _ = w.Write(event)
	})
	answer := func(w http.ResponseWriter, q *http.Request) {
		r.answered <- time.Now()
		_, _ = io.Copy(io.Discard, q.Body)
		w.WriteHeader(http.StatusAccepted)
	}
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/bench/response", answer)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/bench/error", answer)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(l) }()
	r.close = func() { close(done); server.Close() }
	return r, nil
}
