// Package zones holds the time zone database, https://www.iana.org/time-zones. It is part of the project, so that the
// service, its tests and the operator's command follow the same clocks on every machine, whatever database Go or the
// machine has. scripts/lab/zones takes a new release of it.
package zones

import (
	_ "embed" // for the data
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// data begins with a line that names the release. A line for each zone follows, with its name and where its data begins and
// ends after the empty line. The data has the format of RFC 9636. Zones with the same clocks share it.
//
//go:embed zones.bin
var data string

// parts returns the release, the lines of the zones, each with a line break on both sides, and the data of the zones.
func parts() (release, lines, bytes string) {
	head, bytes, _ := strings.Cut(data, "\n\n")
	release, _, _ = strings.Cut(head, "\n")
	return release, head[len(release):] + "\n", bytes
}

// Release is the name of the database's release, such as 2026f.
func Release() string {
	release, _, _ := parts()
	return release
}

// Names lists the zones, sorted.
func Names() (names []string) {
	_, lines, _ := parts()
	for line := range strings.Lines(lines[1:]) {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	return names
}

// loaded are the zones that were loaded, by name. A poll of a waiting box needs its zone, and to parse one takes longer than
// to ask it for the time.
var loaded sync.Map

// Load returns a zone, or an error if there is none with this name.
func Load(name string) (*time.Location, error) {
	if known, ok := loaded.Load(name); ok {
		return known.(*time.Location), nil
	}
	bytes, ok := Data(name)
	if !ok {
		return nil, fmt.Errorf("there is no time zone %q", name)
	}
	zone, err := time.LoadLocationFromTZData(name, []byte(bytes))
	if err == nil {
		loaded.Store(name, zone)
	}
	return zone, err
}

// Data returns the data of a zone, and whether there is such a zone.
func Data(name string) (bytes string, ok bool) {
	_, lines, all := parts()
	_, rest, found := strings.Cut(lines, "\n"+name+" ")
	if !found {
		return "", false
	}
	line, _, _ := strings.Cut(rest, "\n")
	begin, end, _ := strings.Cut(line, " ")
	from, err1 := strconv.Atoi(begin)
	to, err2 := strconv.Atoi(end)
	if err1 != nil || err2 != nil {
		return "", false // the name ends with a number of the line
	}
	return all[from:to], true
}

// Like returns the zone that a person may mean by a name in another spelling or without its region, such as Europe/Berlin
// by europe/berlin, or by Berlin; empty: none.
func Like(name string) string {
	name = strings.NewReplacer(" ", "_", `\`, "/").Replace(strings.TrimSpace(name))
	city := ""
	for _, zone := range Names() {
		switch {
		case strings.EqualFold(zone, name):
			return zone
		case city == "" && strings.EqualFold(zone[strings.LastIndex(zone, "/")+1:], name):
			city = zone
		}
	}
	return city
}
