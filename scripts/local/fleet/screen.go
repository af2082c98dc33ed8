package fleet

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// A screen shows the fleet: on a terminal as a picture that is redrawn, anywhere else as a plain log.
type screen struct {
	out  *os.File
	live bool

	mu    sync.Mutex
	drawn int // lines of the picture on the terminal
}

func newScreen(out *os.File) *screen {
	info, err := out.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	return &screen{out: out, live: terminal && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != ""}
}

// draw replaces the picture on the terminal.
func (s *screen) draw(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var text strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA", s.drawn) // up to its first line
	}
	for _, line := range lines {
		text.WriteString(line + "\x1b[K\n") // and clear what was longer
	}
	text.WriteString("\x1b[J") // and the lines below
	s.drawn = len(lines)
	_, _ = s.out.WriteString(text.String())
}

func (s *screen) log(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, time.Now().Format("15:04:05 ")+format+"\n", args...)
}

// registering shows the progress of the registration.
func (s *screen) registering(done, all int) {
	switch {
	case s.live && (done%50 == 0 || done == all):
		s.draw(fmt.Sprintf("registering boxes: %d of %d", done, all))
	case !s.live && done == all:
		s.log("registered %d boxes", all)
	}
}

const (
	redraw = 250 * time.Millisecond
	// A plain log has a line for each change in the shares, at most one a second, and one every ten seconds.
	logEvery  = time.Second
	logAtMost = 10 * time.Second
	barWidth  = 40
)

// follow shows the fleet until the context ends.
func (s *screen) follow(ctx context.Context, p plan, seen *tally, asking *watch) {
	every := logEvery
	if s.live {
		every = redraw
	}
	rate := newRate()
	var last string
	var logged time.Time
	for sleep(ctx, every) {
		now := seen.picture()
		perSecond := rate.of(now.polls)
		if s.live {
			s.draw(append(picturesque(p, now, perSecond), asking.lines(seen)...)...)
			continue
		}
		for _, line := range asking.news(seen) {
			s.log("%s", line)
		}
		if shares := now.line(); shares != last || time.Since(logged) >= logAtMost {
			s.log("%s  %.0f polls/s%s%s", shares, perSecond, now.rings(), now.trouble())
			last, logged = shares, time.Now()
		}
	}
}

// end shows the last picture and a summary.
func (s *screen) end(p plan, seen *tally) {
	now := seen.picture()
	if s.live {
		s.draw(picturesque(p, now, 0)...)
	}
	s.log("%s  %d polls: %d changed, %d not modified, %d limited, %d failed%s%s",
		now.line(), now.polls, now.modified, now.same, now.limited, now.failures, now.rings(), now.trouble())
}

// line returns the shares on one line.
func (p picture) line() string {
	parts := make([]string, 0, len(p.shares)+1)
	for _, s := range p.shares {
		parts = append(parts, fmt.Sprintf("%s=%d", s.version, s.boxes))
	}
	if p.silent > 0 {
		parts = append(parts, fmt.Sprintf("(none yet)=%d", p.silent))
	}
	return strings.Join(parts, " ")
}

func (p picture) rings() string {
	if p.bells == 0 {
		return ""
	}
	return fmt.Sprintf("  %d calls of the bell", p.bells)
}

func (p picture) trouble() string {
	if p.failure == "" {
		return ""
	}
	return "  last failure: " + p.failure
}

// picturesque draws a bar for each version.
func picturesque(p plan, now picture, perSecond float64) []string {
	lines := []string{fmt.Sprintf("%d boxes on %s/%s, a %s each %s", now.boxes, p.edgeType, p.channel, map[bool]string{false: "poll", true: "call of the bell"}[p.bell], every(p)), ""}
	for _, s := range now.shares {
		share := float64(s.boxes) / float64(now.boxes)
		note := ""
		if s.rollout > 0 {
			note = fmt.Sprintf("  %d by the rollout", s.rollout)
		}
		lines = append(lines, fmt.Sprintf("  %-16.16s %7d  %5.1f %%  %s%s", s.version, s.boxes, 100*share, bar(share), note))
	}
	if now.silent > 0 {
		lines = append(lines, fmt.Sprintf("  %-16s %7d", "(none yet)", now.silent))
	}
	lines = append(lines, "", fmt.Sprintf("  %.0f polls/s   changed %d   not modified %d   limited %d   failed %d   p50 %s   p99 %s",
		perSecond, now.modified, now.same, now.limited, now.failures,
		now.p50.Round(100*time.Microsecond), now.p99.Round(100*time.Microsecond)), now.rings())
	if now.failure != "" {
		lines = append(lines, fmt.Sprintf("  last failure: %.100s", now.failure))
	}
	return lines
}

func every(p plan) string {
	if p.interval == 0 {
		return "time the service asks for"
	}
	return p.interval.String()
}

// bar draws a share in eighths of a character.
func bar(share float64) string {
	eighths := int(share*barWidth*8 + 0.5)
	if eighths == 0 && share > 0 {
		eighths = 1
	}
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return text + strings.Repeat(" ", barWidth-(eighths+7)/8)
}

// A rate is the number of polls a second over the last few seconds.
type rate struct {
	at    []time.Time
	polls []int
}

const rateOver = 5 * time.Second

func newRate() *rate { return &rate{at: []time.Time{time.Now()}, polls: []int{0}} }

func (r *rate) of(polls int) float64 {
	now := time.Now()
	r.at, r.polls = append(r.at, now), append(r.polls, polls)
	for len(r.at) > 2 && now.Sub(r.at[0]) > rateOver {
		r.at, r.polls = r.at[1:], r.polls[1:]
	}
	return float64(polls-r.polls[0]) / now.Sub(r.at[0]).Seconds()
}
