package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
)

// wire counts the bytes that connections of client carry.
var wire struct{ sent, received atomic.Int64 }

// A counted connection adds what it carries to wire.
type counted struct{ net.Conn }

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	wire.received.Add(int64(n))
	return n, err
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	wire.sent.Add(int64(n))
	return n, err
}

var client = &http.Client{Transport: &http.Transport{
	MaxIdleConnsPerHost: 64,
	DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return counted{c}, err
	},
}}

// call makes one call and returns its answer's header.
func (w *world) call(ctx context.Context, method, path, bearer, body string, want int, header ...string) (http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, method, w.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", bearer)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != want {
		return nil, fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	return res.Header, nil
}

// put stores what is new.
func (w *world) put(ctx context.Context, path, body string) error {
	_, err := w.call(ctx, http.MethodPut, path, w.owner, body, http.StatusCreated)
	return err
}

func manifestPath(id string) string { return "/api/edges/" + id + "/update/manifest?installed=1.0.0" }

// poll makes a box's poll; etag may be empty.
func (w *world) poll(ctx context.Context, b box, etag string) (http.Header, error) {
	if etag == "" {
		return w.call(ctx, http.MethodGet, manifestPath(b.id), b.bearer, "", http.StatusOK)
	}
	return w.call(ctx, http.MethodGet, manifestPath(b.id), b.bearer, "", http.StatusNotModified, "If-None-Match", etag)
}
