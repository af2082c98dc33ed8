package gateway

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

func TestUnreadable_Request_IsAnsweredWithAProblemDocument(t *testing.T) {
	w := newWorld(t)
	for request, status := range map[string]int{
		"GET /api/factories/%zz HTTP/1.1\r\nHost: a\r\n\r\n":                                                    400,
		"GET /api/copilot/%zz HTTP/1.1\r\nHost: a\r\n\r\n":                                                      400,
		"GET /api/factories HTTP/1.1\r\nHost: a\r\nno header\r\n\r\n":                                           400,
		"GET /api/factories HTTP/1.1\r\n\r\n":                                                                   400,
		"GET /api/factories HTTP/9.1\r\nHost: a\r\n\r\n":                                                        505,
		"GET /api/factories HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n\r\n":               431,
		"GET /api/factories?q=" + strings.Repeat("x", 80_000) + " HTTP/1.1\r\nHost: a\r\n\r\n":                  431,
		"PUT /api/factories/a/machines/b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n":                501,
		"PUT /api/factories/a/machines/b HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n": 400,
	} {
		name, _, _ := strings.Cut(request, "\r\n")
		t.Run(name, func(t *testing.T) {
			c := expect.Value(net.Dial("tcp", w.address))(t)
			defer c.Close()
			go func() { _, _ = c.Write([]byte(request)) }() // the gateway may close before it has read everything
			res := expect.Value(http.ReadResponse(bufio.NewReader(c), nil))(t)
			defer res.Body.Close()
			var d problem.Document
			expect.OK(t, json.NewDecoder(res.Body).Decode(&d))
			if res.StatusCode != status || res.Header.Get("Content-Type") != "application/problem+json" || d.Code == "" || d.RequestID == "" {
				t.Errorf("%d %v %+v, want %d and a problem document", res.StatusCode, res.Header, d, status)
			}
			a := <-w.accesses
			expect.That(t, a.Status == status && a.Cause != nil, "the access is %+v", a)
		})
	}
	expect.Equal(t, w.function.calls(), 0, "calls of the function:")
}

// TestUnreadable_TextOfAFunction_IsUnchanged sends an answer that looks like one of net/http.
func TestUnreadable_TextOfAFunction_IsUnchanged(t *testing.T) {
	w := newWorld(t)
	w.function.answer = answers(`{"statusCode":400,"headers":{"Content-Type":"text/plain; charset=utf-8"},"body":"400 Bad Request"}`)
	r := w.raw(t, "GET "+somewhere, "Connection: close")
	expect.Equal(t, []any{r.status, r.body}, []any{400, "400 Bad Request"}, "the answer is")
}

// TestUnfinishedBody_IsRefusedInTime: the caller announces more than it sends, and keeps the connection open.
func TestUnfinishedBody_IsRefusedInTime(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.BodyTimeout = 50 * time.Millisecond })
	c := expect.Value(net.Dial("tcp", w.address))(t)
	defer c.Close()
	if _, err := c.Write([]byte("PUT /api/factories/a/machines/b HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nContent-Length: 100\r\n\r\n{")); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(c)
	res := expect.Value(http.ReadResponse(answers, nil))(t)
	defer res.Body.Close()
	var d problem.Document
	if err := json.NewDecoder(res.Body).Decode(&d); err != nil || res.StatusCode != http.StatusRequestTimeout || d.Code == "" {
		t.Errorf("%d %+v %v", res.StatusCode, d, err)
	}
	_, err := answers.ReadByte()
	expect.That(t, errors.Is(err, io.EOF), "the connection stays open: %v", err)
	expect.Equal(t, w.function.calls(), 0, "calls of the function:")
}
