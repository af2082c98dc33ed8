package main

import (
	"fmt"
	"os"
	"strings"
)

// processors begins to watch how busy the machine's processors are; what it returns tells the share
// in percent since then, or that the system does not say (it is Linux's /proc/stat).
func processors() func() string {
	idle, all, ok := times()
	return func() string {
		idle2, all2, ok2 := times()
		if !ok || !ok2 || all2 == all {
			return "not known"
		}
		return fmt.Sprintf("%.0f", 100*(1-float64(idle2-idle)/float64(all2-all)))
	}
}

// times reads the first line of /proc/stat: user, nice, system, idle, iowait, and others.
func times() (idle, all int64, ok bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, false
	}
	line, _, _ := strings.Cut(string(b), "\n")
	for i, field := range strings.Fields(line) {
		if i == 0 {
			continue
		}
		var n int64
		if _, err := fmt.Sscan(field, &n); err != nil {
			return 0, 0, false
		}
		all += n
		if i == 4 || i == 5 {
			idle += n
		}
	}
	return idle, all, all > 0
}
