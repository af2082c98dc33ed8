package dynamolocal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// startTimeout bounds the start. It takes seconds, or a minute on a busy machine.
const startTimeout = 3 * time.Minute

// A program is a server that exits when its standard input is closed.
type program struct {
	kind     string
	file     string // the name of its launcher
	launcher []byte
	endpoint *regexp.Regexp // finds the endpoint in the output
	command  func(work, launcher string) *exec.Cmd
}

// start starts the server with its own directory, which is removed at the end.
func (p program) start() (*Store, error) {
	work, err := os.MkdirTemp("", "wavegate-store")
	if err != nil {
		return nil, err
	}
	launcher := filepath.Join(work, p.file)
	if err := os.WriteFile(launcher, p.launcher, 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(work))
	}
	store, err := p.run(p.command(work, launcher), work)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("dynamolocal: %s did not start: %w", p.kind, err), os.RemoveAll(work))
	}
	return store, nil
}

func (p program) run(cmd *exec.Cmd, work string) (*Store, error) {
	// The system closes the pipe when this process ends, for any reason.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the exit status does not matter
		_ = in.Close()
		close(ended)
	}()
	stop := func() error {
		stdin.Close()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		return os.RemoveAll(work)
	}
	url, err := p.await(out)
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return &Store{Kind: p.kind, Endpoint: url, close: stop}, nil
}

// await reads the output until it contains the endpoint. The rest is discarded.
func (p program) await(out io.Reader) (string, error) {
	found, failed := make(chan string, 1), make(chan error, 1)
	go func() {
		var printed strings.Builder
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if m := p.endpoint.FindStringSubmatch(line); m != nil {
				found <- m[1]
				_, _ = io.Copy(io.Discard, lines)
				return
			}
			printed.WriteString(line)
			if err != nil {
				failed <- errors.New("it ended and printed: " + printed.String())
				return
			}
		}
	}()
	select {
	case url := <-found:
		return url, nil
	case err := <-failed:
		return "", err
	case <-time.After(startTimeout):
		return "", fmt.Errorf("no answer within %s", startTimeout)
	}
}
