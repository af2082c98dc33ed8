package gateway

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"

	"wavegate/shared/platform/problem"
)

// A listener wraps connections. If net/http cannot read a request, such as one for
// /api/factories/%zz, it answers with text, and has no hook for that. The wrapped connection
// replaces the text with a problem document.
type listener struct {
	net.Listener
	gateway *Gateway
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c, l.gateway}, nil
}

type conn struct {
	net.Conn
	gateway *Gateway
}

// Write replaces the answer of net/http to a request that it cannot read, which it writes in one
// call.
func (c conn) Write(p []byte) (int, error) {
	status, ok := unreadable(p)
	if !ok {
		return c.Conn.Write(p)
	}
	r := &http.Request{RemoteAddr: c.RemoteAddr().String(), Proto: "HTTP/1.1"}
	kind := "DEFAULT_4XX"
	if status >= 500 {
		kind = "DEFAULT_5XX"
	}
	x := c.gateway.newContext(r, "")
	a := own(problem.GatewayResponseOf(kind), status, x, c.gateway.origins)
	answer := http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: a.header, Close: true,
		Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)),
	}
	if err := answer.Write(c.Conn); err != nil {
		return 0, err
	}
	c.gateway.access(Access{RequestID: x.RequestID, Status: status, Response: kind, Cause: errors.New(string(p[bytes.LastIndexByte(p, '\n')+1:]))})
	return len(p), nil
}

// unreadable reports whether p is the answer of net/http to a request that it could not read, and
// with what status.
func unreadable(p []byte) (status int, ok bool) {
	const head = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	line, _, found := bytes.Cut(p, []byte(head)) // an answer of a handler has a Date header
	fields := bytes.SplitN(line, []byte(" "), 3)
	if !found || len(fields) != 3 || string(fields[0]) != "HTTP/1.1" || bytes.Contains(line, []byte("\r")) {
		return 0, false
	}
	status, err := strconv.Atoi(string(fields[1]))
	return status, err == nil && status >= 400
}
