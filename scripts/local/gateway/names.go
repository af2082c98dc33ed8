package gateway

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
)

// net/http spells every header's name in its own way, while API Gateway hands names on as they were
// sent: a function that looks for "Authorization" and nothing else works here and fails there. So
// what arrives on a connection is kept until the request is parsed, and read a second time for its
// names.

type connectionKey struct{}

// A recorder is a connection that remembers what was read since the last request ended.
type recorder struct {
	net.Conn
	mu   sync.Mutex
	read []byte
}

// recorded bounds what is remembered: net/http itself takes no more of headers than 1 MB.
const recorded = 1 << 20

func (c *recorder) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	if room := recorded - len(c.read); room > 0 {
		c.read = append(c.read, b[:min(n, room)]...)
	}
	c.mu.Unlock()
	return n, err
}

func (c *recorder) forget() {
	c.mu.Lock()
	c.read = nil
	c.mu.Unlock()
}

type recordingListener struct{ net.Listener }

func (l recordingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &recorder{Conn: c}, nil
}

// recording makes a server remember how names were sent on connections of a recordingListener.
func recording(s *http.Server) {
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, c)
	}
	s.ConnState = func(c net.Conn, state http.ConnState) {
		if r, ok := c.(*recorder); ok && state == http.StateIdle {
			r.forget()
		}
	}
}

// namesAsSent maps net/http's spelling of a header's name to the caller's. It is empty where the
// connection is not recorded.
func namesAsSent(r *http.Request) map[string]string {
	c, ok := r.Context().Value(connectionKey{}).(*recorder)
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]string{}
	rest := c.read
	for first := true; ; first = false {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if !found || len(line) == 0 {
			return names
		}
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && !first {
			names[http.CanonicalHeaderKey(string(name))] = string(name)
		}
		rest = after
	}
}
