package fleet

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/fleet/report"
)

// A fate is what happens to a box with a version.
type fate int

// Fates.
const (
	well     fate = iota // it installs the version and runs it
	fails                // it reports that it cannot, each time it tries
	bricks               // it dies and is never heard of again
	reverts              // it runs the version for one poll and falls back
	deferred             // a person at the machine puts it off
)

// A share of the boxes, from 0 to 1. Its text is a percentage.
type share float64

// String implements flag.Value.
func (s *share) String() string { return strconv.FormatFloat(float64(*s)*100, 'g', -1, 64) + "%" }

// Set implements flag.Value.
func (s *share) Set(text string) error {
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(n >= 0 && n <= 100) {
		return errors.New("must be a percentage, for example 2%")
	}
	*s = share(n / 100)
	return nil
}

// chances are the shares of the boxes with each fate. The rest do well.
type chances struct {
	fail, brick, revert, deferred share
	code                          report.FailureCode // why all of them fail; if empty, each box has its own code
	brickAfter                    time.Duration      // how long they run the version before they die
	revision                      string             // the hardware revision of those that fail; if empty, boxes have none
}

func (c *chances) flags(flags *flag.FlagSet) {
	flags.Var(&c.fail, "fail", "")
	flags.Var(&c.brick, "brick", "")
	flags.Var(&c.revert, "revert", "")
	flags.Var(&c.deferred, "defer", "")
	flags.StringVar((*string)(&c.code), "fail-code", "", "")
	flags.DurationVar(&c.brickAfter, "brick-after", 0, "")
	flags.StringVar(&c.revision, "fail-revision", "", "")
}

func (c *chances) check() error {
	if sum := c.fail + c.brick + c.revert + c.deferred; sum > 1 {
		return fmt.Errorf("--fail, --brick, --revert and --defer come to %v, which is more than all boxes", &sum)
	}
	if c.code != "" && !slices.Contains(report.Codes, c.code) {
		return fmt.Errorf("--fail-code must be one of %v", report.Codes)
	}
	if c.brickAfter < 0 {
		return errors.New("--brick-after must not be negative")
	}
	return nil
}

// of returns the fate of a box with a version, and the code if it fails. It is always the same, and with a hardware revision
// it is the same for all versions.
func (c *chances) of(id, version string) (fate, report.FailureCode) {
	if c.revision != "" {
		version = ""
	}
	sum := sha256.Sum256([]byte("fate/" + version + "/" + id))
	drawn := share(binary.BigEndian.Uint32(sum[:4])) / (1 << 32)
	code := c.code
	if code == "" {
		code = report.Codes[int(sum[4])%len(report.Codes)]
	}
	for _, f := range []struct {
		fate fate
		part share
	}{{fails, c.fail}, {bricks, c.brick}, {reverts, c.revert}, {deferred, c.deferred}} {
		if drawn < f.part {
			return f.fate, code
		}
		drawn -= f.part
	}
	return well, code
}

// attributes are what a box is registered with.
func (c *chances) attributes(id string) map[string]string {
	if c.revision == "" {
		return nil
	}
	if f, _ := c.of(id, ""); f == fails {
		return map[string]string{hardwareRevision: c.revision}
	}
	return map[string]string{hardwareRevision: "A"}
}

const hardwareRevision = "hardwareRevision"
