package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Lines calls each with all pages of JSON Lines and the number of their lines. The address of the next page is in the
// header Link (RFC 8288). The pages after the first wait for the limit of calls per minute.
func (c *Client) Lines(ctx context.Context, path string, each func(page []byte, lines int) error) error {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for {
		page, err := c.Do(ctx, Request{Method: http.MethodGet, Path: path, Query: query})
		if err != nil {
			return err
		}
		if len(page.Body) > 0 && page.Body[len(page.Body)-1] != '\n' {
			return &Unknown{Cause: fmt.Errorf("the service's answer has no whole lines"), Document: page.Body}
		}
		if err := each(page.Body, bytes.Count(page.Body, []byte("\n"))); err != nil {
			return err
		}
		next, more := strings.CutPrefix(page.Header.Get("Link"), "<")
		if !more {
			return nil
		}
		next, _, _ = strings.Cut(next, ">")
		if path, query, err = behind(next); err != nil {
			return err
		}
		c = c.patient()
	}
}
