// Command zones takes the newest release of the time zone database into the project, from the package tzdata of PyPI, with
// Python's pip.
//
//	go run ./scripts/lab/zones          takes the newest release: it writes shared/platform/zones/zones.bin
//	go run ./scripts/lab/zones check    warns of a newer release, and fails if it is older than 60 days. If nothing can be
//	                                    asked, it says so and succeeds
package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/platform/zones"
)

const file = "shared/platform/zones/zones.bin"

func main() {
	var err error
	switch {
	case len(os.Args) == 1:
		err = take()
	case len(os.Args) == 2 && os.Args[1] == "check":
		err = check(time.Now())
	default:
		err = errors.New("the only argument is check")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "zones:", err)
		os.Exit(1)
	}
}

func take() error {
	p, err := download("tzdata")
	if err != nil {
		return err
	}
	was := zones.Release()
	if err := os.WriteFile(file, p.pack(), 0o600); err != nil {
		return err
	}
	fmt.Printf("The database was %s, and is now %s, published on %s.\n", was, p.release, p.published.Format(time.DateOnly))
	return nil
}

// check looks for releases after the project's. The first of them counts: since then the project is behind.
func check(now time.Time) error {
	after, err := later(zones.Release())
	if err != nil {
		fmt.Println("warning: nobody could be asked for a newer time zone database:", err)
		return nil
	}
	if len(after) == 0 {
		return nil
	}
	p, err := download("tzdata==" + after[0])
	if err != nil {
		return err
	}
	warning, err := judge(p.release, p.published, now)
	if err == nil {
		fmt.Println("warning: " + warning)
	}
	return err
}

// mostBehind is how long a newer release may be left.
const mostBehind = 60 * 24 * time.Hour

func judge(release string, published, now time.Time) (warning string, err error) {
	text := fmt.Sprintf("the time zone database is %s, and %s was published on %s; take it with go run ./scripts/lab/zones",
		zones.Release(), release, published.Format(time.DateOnly))
	if now.Sub(published) > mostBehind {
		return "", errors.New(text)
	}
	return text, nil
}

var versionForm = regexp.MustCompile(`\b(20[0-9]{2})\.([0-9]{1,2})\b`)

// later lists the package's versions after a release, the oldest first. Version 2026.6 has the release 2026f.
func later(than string) (versions []string, err error) {
	out, err := exec.Command("python3", "-m", "pip", "--disable-pip-version-check", "index", "versions", "tzdata").Output()
	if err != nil {
		return nil, told(err)
	}
	_, list, found := strings.Cut(string(out), "Available versions:")
	if !found {
		return nil, errors.New("pip lists no versions")
	}
	list, _, _ = strings.Cut(list, "\n")
	for _, m := range versionForm.FindAllStringSubmatch(list, -1) {
		if n, _ := strconv.Atoi(m[2]); n > 0 && n <= 26 && m[1]+string(rune('a'+n-1)) > than {
			versions = append(versions, m[0])
		}
	}
	slices.Reverse(versions)
	return versions, nil
}

// told adds what a program says about its failure.
func told(err error) error {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		lines := strings.Split(strings.TrimSpace(string(ended.Stderr)), "\n")
		return fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return err
}

// A database is one release.
type database struct {
	release   string
	published time.Time
	zones     map[string][]byte
}

// download gets a release with pip, which compares its digest with the index's.
func download(requirement string) (*database, error) {
	dir, err := os.MkdirTemp("", "zones")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := exec.Command("python3", "-m", "pip", "--disable-pip-version-check", "download", "--no-deps", "--only-binary=:all:", "--dest", dir, requirement).Output(); err != nil {
		return nil, told(err)
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil || len(wheels) != 1 {
		return nil, fmt.Errorf("pip downloaded %q", wheels)
	}
	return read(wheels[0])
}

var releaseForm = regexp.MustCompile(`IANA_VERSION = "([0-9]{4}[a-z]+)"`)

func read(wheel string) (*database, error) {
	bytes, err := os.ReadFile(wheel)
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(strings.NewReader(string(bytes)), int64(len(bytes)))
	if err != nil {
		return nil, err
	}
	d := database{zones: map[string][]byte{}}
	head, err := fs.ReadFile(archive, "tzdata/__init__.py")
	if err != nil {
		return nil, err
	}
	m := releaseForm.FindSubmatch(head)
	if m == nil {
		return nil, errors.New("the package names no release")
	}
	d.release, d.published = string(m[1]), archive.File[0].Modified
	list, err := fs.ReadFile(archive, "tzdata/zones")
	if err != nil {
		return nil, err
	}
	for _, name := range strings.Fields(string(list)) {
		if name == "Factory" {
			continue // the zone of a machine whose zone is not set
		}
		if d.zones[name], err = fs.ReadFile(archive, "tzdata/zoneinfo/"+name); err != nil {
			return nil, err
		}
	}
	return &d, nil
}

// pack writes the database as package zones reads it.
func (d *database) pack() []byte {
	lines, bytes := d.release+"\n", ""
	begins := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(d.zones)) {
		text := string(d.zones[name])
		begin, known := begins[text]
		if !known {
			begin = len(bytes)
			begins[text] = begin
			bytes += text
		}
		lines += fmt.Sprintf("%s %d %d\n", name, begin, begin+len(text))
	}
	return []byte(lines + "\n" + bytes)
}
