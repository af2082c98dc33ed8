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

// Loopback.java is run as source: Java compiles it on the way.
//
//go:embed Loopback.java
var launcher []byte

var listening = regexp.MustCompile(`listening (\S+)`)

// A ReferenceOptions says how DynamoDB Local runs.
type ReferenceOptions struct {
	// DataDir keeps the data in that directory, which is made if absent; empty keeps it in memory.
	DataDir string
	// Progress receives a line for each step that takes its time; nil: none.
	Progress io.Writer
}

const howJava = "Install a JDK of version 17 or newer (Debian and Ubuntu: apt-get install openjdk-17-jdk-headless; macOS: brew install openjdk) and put its java on the PATH."

// Reference starts Amazon's DynamoDB Local, fetching it first if this machine has not got it yet
// (54 MB, kept in the user's cache directory). It takes 2 to 4 seconds to start.
//
// Errors: *MissingError where the machine lacks something; otherwise what went wrong.
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

// findJava looks for a JDK of version 17 or newer: DynamoDB Local needs the version, the launcher
// the compiler.
func findJava(ctx context.Context) (string, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return "", &MissingError{"DynamoDB Local needs Java, and there is none", howJava}
	}
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	version := javaVersion.FindSubmatch(out)
	if err != nil || version == nil { // macOS has a java that only says that there is none
		return "", &MissingError{"DynamoDB Local needs Java, and " + java + " is none that runs", howJava}
	}
	if major, err := strconv.Atoi(string(version[1])); err != nil || major < 17 {
		return "", &MissingError{"DynamoDB Local needs Java 17 or newer, and this is " + string(version[1]), howJava}
	}
	modules, err := exec.CommandContext(ctx, java, "--list-modules").Output()
	if err != nil || !strings.Contains(string(modules), "jdk.compiler") {
		return "", &MissingError{"DynamoDB Local needs a JDK, and " + java + " is a mere JRE", howJava}
	}
	return java, nil
}
