package dynamolocal

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Loopback.java is run as source: Java compiles it on the way.
//
//go:embed Loopback.java
var launcher []byte

// A ReferenceOptions says how DynamoDB Local runs.
type ReferenceOptions struct {
	// DataDir keeps the data in that directory, which is made if absent; empty keeps it in memory.
	DataDir string
	// Progress receives a line for each step that takes its time; nil: none.
	Progress io.Writer
}

// A MissingError names what the machine lacks to run DynamoDB Local and how to get it.
type MissingError struct{ What, How string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("DynamoDB Local needs %s. %s", e.What, e.How)
}

const howJava = "Install a JDK of version 17 or newer (Debian and Ubuntu: apt-get install openjdk-17-jdk-headless; macOS: brew install openjdk) and put its java on the PATH."

// Reference starts Amazon's DynamoDB Local, fetching it first if this machine has not got it yet
// (54 MB, kept in the user's cache directory). It takes 2 to 4 seconds to start.
//
// Errors: *MissingError where the machine lacks something; else what went wrong.
func Reference(ctx context.Context, o ReferenceOptions) (*Store, error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	java, err := findJava(ctx)
	if err != nil {
		return nil, err
	}
	home, err := fetch(ctx, o.Progress)
	if err != nil {
		return nil, err
	}
	arguments := []string{"-sharedDb", "-disableTelemetry"}
	if o.DataDir == "" {
		arguments = append(arguments, "-inMemory")
	} else {
		data, err := filepath.Abs(o.DataDir)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(data, 0o700); err != nil {
			return nil, err
		}
		arguments = append(arguments, "-dbPath", data)
	}
	fmt.Fprintln(o.Progress, "starting DynamoDB Local")
	return launch(java, home, arguments)
}

func launch(java, home string, arguments []string) (*Store, error) {
	work, err := os.MkdirTemp("", "wavegate-store")
	if err != nil {
		return nil, err
	}
	source := filepath.Join(work, "Loopback.java")
	if err := os.WriteFile(source, launcher, 0o600); err != nil {
		return nil, err
	}
	libraries := filepath.Join(home, "DynamoDBLocal_lib")
	cmd := exec.Command(java, append([]string{
		"-Djava.library.path=" + libraries,
		"-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
		"-cp", filepath.Join(home, "DynamoDBLocal.jar") + string(os.PathListSeparator) + filepath.Join(libraries, "*"),
		source,
	}, arguments...)...)
	cmd.Dir = home
	// The pipe is closed by the system when this process ends, however it ends.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var problems strings.Builder
	cmd.Stderr = &problems
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() error {
		stdin.Close()
		ended := make(chan struct{})
		go func() { cmd.Wait(); close(ended) }() //nolint:errcheck // how it ends is of no interest
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		return os.RemoveAll(work)
	}
	port, err := listening(stdout)
	if err != nil {
		_ = stop()
		return nil, fmt.Errorf("dynamolocal: DynamoDB Local did not start: %w\n%s", err, problems.String())
	}
	return &Store{Kind: "DynamoDB Local", Endpoint: "http://127.0.0.1:" + port, close: stop}, nil
}

// startTimeout bounds the start, which takes seconds on a slow machine.
const startTimeout = time.Minute

// listening reads what the launcher prints until it names its port.
func listening(out io.Reader) (string, error) {
	port := make(chan string, 1)
	go func() {
		defer close(port)
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if p, ok := strings.CutPrefix(strings.TrimSpace(line), "listening "); ok {
				port <- p
			}
		}
	}()
	select {
	case p, ok := <-port:
		if !ok {
			return "", errors.New("it ended")
		}
		return p, nil
	case <-time.After(startTimeout):
		return "", fmt.Errorf("no answer within %s", startTimeout)
	}
}

var javaVersion = regexp.MustCompile(`version "(\d+)`)

// findJava looks for a JDK of version 17 or newer: DynamoDB Local needs the version, the launcher
// the compiler.
func findJava(ctx context.Context) (string, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return "", &MissingError{"Java, and there is none", howJava}
	}
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	version := javaVersion.FindSubmatch(out)
	if err != nil || version == nil { // macOS has a java that only says that there is none
		return "", &MissingError{"Java, and " + java + " is none that runs", howJava}
	}
	if major, err := strconv.Atoi(string(version[1])); err != nil || major < 17 {
		return "", &MissingError{"Java 17 or newer, and this is " + string(version[1]), howJava}
	}
	modules, err := exec.CommandContext(ctx, java, "--list-modules").Output()
	if err != nil || !strings.Contains(string(modules), "jdk.compiler") {
		return "", &MissingError{"a JDK, and " + java + " is a mere JRE", howJava}
	}
	return java, nil
}
