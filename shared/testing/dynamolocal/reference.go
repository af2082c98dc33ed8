package dynamolocal

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Loopback.java runs from source; Java compiles it at the start.
//
//go:embed Loopback.java
var launcher []byte

var listening = regexp.MustCompile(`listening (\S+)`)

// A ReferenceOptions says how DynamoDB Local runs.
type ReferenceOptions struct {
	// DataDir is the directory for the data, which is created if missing. Empty keeps the data
	// in memory.
	DataDir string
	// Progress, if set, receives a line for each slow step.
	Progress io.Writer
}

const howJava = "Install a JDK of version 17 or newer (Debian and Ubuntu: apt-get install openjdk-17-jdk-headless; macOS: brew install openjdk) and put its java on the PATH."

// Reference starts Amazon's DynamoDB Local in 2 to 4 seconds. At first use it fetches the
// program (54 MB) into the user's cache directory.
//
// It returns *MissingError if the machine lacks a program that it needs.
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
	libraries := filepath.Join(home, "DynamoDBLocal_lib")
	return program{
		kind: "DynamoDB Local", file: "Loopback.java", launcher: launcher, endpoint: listening,
		command: func(_, launcher string) *exec.Cmd {
			cmd := exec.Command(java, append([]string{
				"-Djava.library.path=" + libraries,
				"-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
				"-cp", filepath.Join(home, "DynamoDBLocal.jar") + string(os.PathListSeparator) + filepath.Join(libraries, "*"),
				launcher,
			}, arguments...)...)
			cmd.Dir = home
			return cmd
		},
	}.start()
}

var javaVersion = regexp.MustCompile(`version "(\d+)`)

// findJava looks for a JDK of version 17 or newer. DynamoDB Local needs that version, and the
// launcher needs the compiler.
func findJava(ctx context.Context) (string, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return "", &MissingError{"DynamoDB Local needs Java, which is missing", howJava}
	}
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	version := javaVersion.FindSubmatch(out)
	if err != nil || version == nil { // macOS has a java that only reports that none is installed
		return "", &MissingError{"DynamoDB Local needs Java, and " + java + " does not run", howJava}
	}
	if major, err := strconv.Atoi(string(version[1])); err != nil || major < 17 {
		return "", &MissingError{"DynamoDB Local needs Java 17 or newer, and this is " + string(version[1]), howJava}
	}
	modules, err := exec.CommandContext(ctx, java, "--list-modules").Output()
	if err != nil || !strings.Contains(string(modules), "jdk.compiler") {
		return "", &MissingError{"DynamoDB Local needs a JDK, and " + java + " is only a JRE", howJava}
	}
	return java, nil
}

// A MissingError names a program that the reference needs, and how to install it.
type MissingError struct{ What, How string }

func (e *MissingError) Error() string { return fmt.Sprintf("%s. %s", e.What, e.How) }
