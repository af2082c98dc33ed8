package zones_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/zones"
	"wavegate/shared/testing/expect"
)

// reader prints each change of clocks or of the zone's name between two times, of each zone in a folder.
const reader = `
import datetime, pathlib, sys, zoneinfo
root, first, last = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
for path in sorted(p for p in root.rglob("*") if p.is_file()):
    with path.open("rb") as f:
        zone = zoneinfo.ZoneInfo.from_file(f)
    def shown(at):
        local = datetime.datetime.fromtimestamp(at, zone)
        return f"{int(local.utcoffset().total_seconds())} {local.tzname()}"
    name, at = path.relative_to(root).as_posix(), first
    print(name, at, shown(at))
    while at < last:
        after = at + 86400
        if shown(at) != shown(after):
            low, high = at, after
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if shown(middle) == shown(low) else (low, middle)
            print(name, high, shown(high))
            after = high
        at = after
`

// TestZones_ChangeTheirClocks_AsPythonReadsThem compares ten years of each zone with those that Python's zoneinfo reads of the
// same data.
func TestZones_ChangeTheirClocks_AsPythonReadsThem(t *testing.T) {
	expect.Full(t)
	first, last := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)
	dir, lines, changes := t.TempDir(), map[string]string{}, 0
	for _, name := range zones.Names() {
		data, _ := zones.Data(name)
		path := filepath.Join(dir, filepath.FromSlash(name))
		expect.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		expect.OK(t, os.WriteFile(path, []byte(data), 0o600))

		zone := expect.Value(zones.Load(name))(t)
		shown := func(at time.Time) string {
			abbreviation, offset := at.In(zone).Zone()
			return fmt.Sprintf("%d %s", offset, abbreviation)
		}
		lines[name] = fmt.Sprintln(name, first.Unix(), shown(first))
		for at := first; ; {
			_, end := at.In(zone).ZoneBounds()
			if !end.IsZero() && !end.After(at) {
				end = at.AddDate(0, 0, 1) // Go ends each year after 365 days
			}
			if end.IsZero() || !end.Before(last) {
				break
			}
			if shown(end) != shown(at) {
				lines[name] += fmt.Sprintln(name, end.Unix(), shown(end))
				changes++
			}
			at = end
		}
	}
	script := filepath.Join(t.TempDir(), "reader.py")
	expect.OK(t, os.WriteFile(script, []byte(reader), 0o600))
	out := expect.Value(exec.Command("python3", script, dir, strconv.FormatInt(first.Unix(), 10), strconv.FormatInt(last.Unix(), 10)).Output())(t)
	theirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, " ")
		theirs[name] += line
	}
	for name, want := range lines {
		expect.Equal(t, theirs[name], want, "%s: Python's changes of clocks", name)
	}
	expect.That(t, len(theirs) == len(lines) && changes > 3000, "%d of %d zones were compared, with %d changes", len(theirs), len(lines), changes)
	t.Logf("%d zones with %d changes are the same", len(lines), changes)
}
