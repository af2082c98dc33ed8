// Command wavegate-box is the Go client as a program, for boxes whose maker does not write Go. It takes the same environment
// variables and hooks as client.sh.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"wavegate/scripts/box"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	minute, err := strconv.ParseFloat(cmp.Or(os.Getenv("MINUTE"), "60"), 64)
	for _, name := range []string{"API", "BOX"} {
		if os.Getenv(name) == "" {
			err = errors.Join(err, fmt.Errorf("%s is not set", name))
		}
	}
	if err == nil {
		h := hooks(cmp.Or(os.Getenv("HOOKS"), "/etc/wavegate"))
		c := box.Client{
			API: os.Getenv("API"), EdgeID: os.Getenv("BOX"), Folder: cmp.Or(os.Getenv("FOLDER"), "/var/lib/wavegate"), BellVia: os.Getenv("BELL_VIA"),
			Device: h, Authorization: func(ctx context.Context) (string, error) { return h.says(ctx, "authorization") },
			Timing: box.DefaultTiming.Scaled(minute / 60),
		}
		err = c.Run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "wavegate-box:", err)
		os.Exit(1)
	}
}

// A hooks is a directory with the maker's programs.
type hooks string

// says runs a program and returns what it prints.
func (h hooks) says(ctx context.Context, program string, arguments ...string) (string, error) {
	c := exec.CommandContext(ctx, filepath.Join(string(h), program), arguments...)
	c.Stderr = os.Stderr
	text, err := c.Output()
	return strings.TrimSpace(string(text)), err
}

func (h hooks) Installed(ctx context.Context) (string, error) { return h.says(ctx, "installed") }

// deferred is the exit code of activate if a person put the update off.
const deferred = 75

func (h hooks) Activate(ctx context.Context, m box.Manifest, file string) error {
	_, err := h.says(ctx, "activate", m.Version, file)
	if exit, is := errors.AsType[*exec.ExitError](err); is && exit.ExitCode() == deferred {
		return &box.Deferral{}
	}
	return err
}
