package dynamo

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// An idleClosingConn is closed by the store once it was idle for a minute. The client finds
// out only after its next request, as with a connection that the store closed while the
// container was frozen.
type idleClosingConn struct {
	net.Conn
	used atomic.Int64
	dead chan struct{}
}

func (c *idleClosingConn) Write(p []byte) (int, error) {
	if time.Now().UnixNano()-c.used.Load() > int64(time.Minute) {
		close(c.dead)
		return len(p), nil
	}
	c.used.Store(time.Now().UnixNano())
	return c.Conn.Write(p)
}

func (c *idleClosingConn) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	read := make(chan result, 1)
	go func() { n, err := c.Conn.Read(p); read <- result{n, err} }()
	select {
	case r := <-read:
		return r.n, r.err
	case <-c.dead:
		_ = c.Close()
		<-read
		return 0, syscall.ECONNRESET
	}
}

// serve answers requests until the connection is closed.
func serve(conn net.Conn) {
	for r := bufio.NewReader(conn); ; {
		request, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}
}

// TestTransport_StoreHasClosedIdleConnections_NoRequestIsLost checks pauses of several lengths.
func TestTransport_StoreHasClosedIdleConnections_NoRequestIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connections := 0
		transport := transport()
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			connections++
			here, there := net.Pipe()
			go serve(there)
			c := &idleClosingConn{Conn: here, dead: make(chan struct{})}
			c.used.Store(time.Now().UnixNano())
			return c, nil
		}
		client := &http.Client{Transport: transport}
		for _, pause := range []time.Duration{0, time.Second, 44 * time.Second, 61 * time.Second, 5 * time.Minute, time.Second} {
			time.Sleep(pause)
			response, err := client.Post("http://store.example/", "application/json", bytes.NewReader([]byte("{}")))
			if err != nil {
				t.Errorf("after a pause of %v: %v", pause, err)
				continue
			}
			_ = response.Body.Close()
		}
		if connections != 3 {
			t.Errorf("%d connections were made, want one at first and one after each long pause", connections)
		}
		transport.CloseIdleConnections()
	})
}
