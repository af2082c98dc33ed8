package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"wavegate/scripts/local/gateway"
)

// A console shows what happens in short lines: one for each call, and the warnings and errors of functions.
type console struct {
	to  io.Writer
	all bool // show every line of the functions, unchanged

	mu    sync.Mutex
	ready bool // before that, all calls are for seeding
}

func (c *console) print(format string, arguments ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.to, time.Now().Format("15:04:05 ")+format+"\n", arguments...)
}

func (c *console) open() {
	c.mu.Lock()
	c.ready = true
	c.mu.Unlock()
}

func (c *console) access(a gateway.Access) {
	c.mu.Lock()
	ready := c.ready
	c.mu.Unlock()
	if !ready {
		return
	}
	note := ""
	if a.Response != "" {
		note = "  by the gateway: " + a.Response
	}
	if a.Cause != nil {
		note += ": " + a.Cause.Error()
	}
	c.print("%d %-6s %s  %d ms%s", a.Status, a.Method, a.Path, a.Duration.Milliseconds(), note)
}

// line shows a function's line if it is a warning, an error, or not JSON, such as the trace of a panic. Metrics and
// the line of each call are left to access.
func (c *console) line(function, line string) {
	if c.all {
		c.print("%s: %s", function, line)
		return
	}
	var entry struct {
		Level string
		AWS   json.RawMessage `json:"_aws"`
	}
	if json.Unmarshal([]byte(line), &entry) == nil &&
		(entry.AWS != nil || strings.EqualFold(entry.Level, "info") || strings.EqualFold(entry.Level, "debug")) {
		return
	}
	c.print("%s: %s", function, line)
}
