package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
)

// Tools are the programs that a run under SAM needs besides Go.
type tools struct {
	docker, sam, npm, npx string
}

// A missingError names a missing program and how to get it.
type missingError struct{ what, how string }

func (e *missingError) Error() string { return e.what + "; " + e.how }

// samHome is where the SAM CLI may be installed only for this project.
func samHome() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "wavegate", "sam")
}

// findTools looks for the programs, and for an answer of the Docker engine.
func findTools(ctx context.Context) (tools, error) {
	var t tools
	var err error
	if t.docker, err = exec.LookPath("docker"); err != nil {
		return t, &missingError{"there is no Docker", "install its engine (Debian: apt-get install docker.io)"}
	}
	if out, err := exec.CommandContext(ctx, t.docker, "info", "--format", "{{.ServerVersion}}").CombinedOutput(); err != nil {
		return t, &missingError{"the Docker engine does not answer: " + firstLine(out), "start it (as root: dockerd)"}
	}
	if t.sam, err = exec.LookPath("sam"); err != nil {
		home := samHome()
		t.sam = filepath.Join(home, "bin", "sam")
		if _, err := os.Stat(t.sam); home == "" || err != nil {
			return t, &missingError{"there is no SAM CLI", fmt.Sprintf("python3 -m venv %s && %s install aws-sam-cli", home, filepath.Join(home, "bin", "pip"))}
		}
	}
	if t.npm, err = exec.LookPath("npm"); err != nil {
		return t, &missingError{"there is no npm", "install Node.js 22 or newer"}
	}
	if t.npx, err = exec.LookPath("npx"); err != nil {
		return t, &missingError{"there is no npx", "install Node.js 22 or newer"}
	}
	return t, nil
}

func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// A processor is this machine's processor, by its three names.
type processor struct {
	goarch string // Go's
	cdk    string // Lambda's
	tag    string // of the base image
}

func thisProcessor() (processor, error) {
	switch goruntime.GOARCH {
	case "amd64":
		return processor{"amd64", "x86_64", "al2023-x86_64"}, nil
	case "arm64":
		return processor{"arm64", "arm64", "al2023-arm64"}, nil
	}
	return processor{}, fmt.Errorf("there is no Lambda on %s", goruntime.GOARCH)
}
