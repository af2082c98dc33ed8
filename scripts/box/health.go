package box

import (
	"math"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// A Health keeps what a box knows of its work: numbers of the last 24 hours, or since the box began to run its version. Its
// zero value is ready, and it may be used concurrently.
type Health struct {
	mu      sync.Mutex
	now     func() time.Time // nil: time.Now
	version string
	since   time.Time
	numbers map[string]*number
}

// A number is kept by the hour.
type number struct {
	counts bool
	hours  [24]hour
}

type hour struct {
	of    int64 // hours since 1970
	sum   float64
	times float64
}

// Measure adds a value of a gauge, such as the seconds of one cycle. The box says the mean.
func (h *Health) Measure(name string, value float64) { h.add(name, value, false) }

// Count adds to a counter, such as one crash. Add 0 once, so that a box without a crash says so. The box says how often it
// happens in a day, from the first hour on.
func (h *Health) Count(name string, times float64) { h.add(name, times, true) }

func (h *Health) add(name string, value float64, counts bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	if h.numbers == nil {
		h.numbers = map[string]*number{}
	}
	if h.since.IsZero() {
		h.since = h.clock()
	}
	n := h.numbers[name]
	if n == nil {
		n = &number{counts: counts}
		h.numbers[name] = n
	}
	of := h.clock().Unix() / 3600
	at := &n.hours[of%24]
	if at.of != of {
		*at = hour{of: of}
	}
	at.sum, at.times = at.sum+value, at.times+1
}

func (h *Health) clock() time.Time {
	if h.now == nil {
		return time.Now()
	}
	return h.now()
}

// query returns what the box says of some numbers, as a part of a poll's query. What it measured with another version than it
// runs is forgotten first.
func (h *Health) query(asked []string, installed string) (query string) {
	if h == nil {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.version != installed {
		if h.version != "" {
			h.numbers, h.since = nil, h.clock()
		}
		h.version = installed
	}
	for _, name := range asked {
		if value, known := h.value(name); known {
			query += "&health=" + url.QueryEscape(name+":"+strconv.FormatFloat(value, 'g', 9, 64))
		}
	}
	return query
}

// value is a number that the service would take; false: there is none.
func (h *Health) value(name string) (value float64, known bool) {
	n := h.numbers[name]
	if n == nil {
		return 0, false
	}
	now, sum, times := h.clock(), 0.0, 0.0
	for _, at := range n.hours {
		if at.of > now.Unix()/3600-24 {
			sum, times = sum+at.sum, times+at.times
		}
	}
	value = sum / times
	if n.counts {
		const day = 24 * time.Hour
		kept := min(now.Sub(h.since), day)
		value, times = sum*float64(day)/float64(kept), math.Floor(kept.Hours())
	}
	return value, times > 0 && (value == 0 || value >= 1e-12 && value <= 1e12)
}
