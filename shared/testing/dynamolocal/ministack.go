package dynamolocal

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// ministackVersion is the version whose answers the tests expect.
const ministackVersion = "1.5.33"

const howMinistack = "Run: python3 -m venv DIR && DIR/bin/pip install ministack==" + ministackVersion + ", and put DIR/bin on the PATH."

//go:embed loopback.py
var ministackLauncher []byte

var runningOn = regexp.MustCompile(`Running on (http://127\.0\.0\.1:\d+)`)

// Ministack starts ministack, a second reference that others have compared with AWS. It keeps
// everything in memory and starts in a second or two.
//
// It returns *MissingError if the machine does not have it.
func Ministack(ctx context.Context) (*Store, error) {
	command, err := exec.LookPath("ministack")
	if err == nil {
		command, err = filepath.EvalSymlinks(command)
	}
	if err != nil {
		return nil, &MissingError{"ministack is missing", howMinistack}
	}
	python := filepath.Join(filepath.Dir(command), "python3") // in the same virtual environment
	version, err := exec.CommandContext(ctx, python, "-c", "import importlib.metadata as m; print(m.version('ministack'))").Output()
	if v := strings.TrimSpace(string(version)); err != nil || v != ministackVersion {
		return nil, &MissingError{command + " is not ministack " + ministackVersion + " in a virtual environment", howMinistack}
	}
	return program{
		kind: "ministack", file: "loopback.py", launcher: ministackLauncher, endpoint: runningOn,
		command: func(work, launcher string) *exec.Cmd {
			cmd := exec.Command(python, launcher)
			cmd.Dir = work
			cmd.Env = append(os.Environ(), "BIND_HOST=127.0.0.1", "GATEWAY_PORT=0", "SERVICES=dynamodb", "TMPDIR="+work,
				"DOCKER_HOST=unix://"+filepath.Join(work, "none")) // otherwise it looks for containers to remove
			return cmd
		},
	}.start()
}

// A MissingError names a program that a reference needs, and how to install it.
type MissingError struct{ What, How string }

func (e *MissingError) Error() string { return fmt.Sprintf("%s. %s", e.What, e.How) }
