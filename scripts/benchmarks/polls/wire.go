package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"

	"wavegate/shared/access/auth"
)

// A wire is a connection that counts what it carries.
type wire struct {
	net.Conn
	sent, received int
}

func (c *wire) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.received += n
	return n, err
}

func (c *wire) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.sent += n
	return n, err
}

// bytesOnTheWire measures one poll of each kind.
func bytesOnTheWire(ctx context.Context, w *world) error {
	id := w.boxes[0]
	bearer, err := w.Bearer(id, "", auth.Edge)
	if err != nil {
		return err
	}
	fmt.Print("\nBytes of one poll on the wire: HTTP/1.1 through the local gateway, without TLS.\n\n")
	fmt.Println("| answer | request | answer |")
	fmt.Println("|---|---|---|")
	etag := ""
	for _, status := range []int{http.StatusOK, http.StatusNotModified} {
		var c *wire
		client := &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				plain, err := new(net.Dialer).DialContext(ctx, network, address)
				c = &wire{Conn: plain}
				return c, err
			}}}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL+manifestPath(id), nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", bearer)
		if etag != "" {
			r.Header.Set("If-None-Match", etag)
		}
		res, err := client.Do(r)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		client.CloseIdleConnections()
		if err != nil {
			return err
		}
		if res.StatusCode != status {
			return fmt.Errorf("a poll was answered with %s, want %d", res.Status, status)
		}
		etag = res.Header.Get("ETag")
		fmt.Printf("| %d | %d | %d |\n", status, c.sent, c.received)
	}
	return nil
}
