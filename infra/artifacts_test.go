package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	localservice "wavegate/scripts/local/service"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// putFile makes a file of a test's directory.
func putFile(t *testing.T, dir, name, text string, mode os.FileMode) {
	t.Helper()
	expect.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750))
	expect.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
}

// cdk is a call of scripts/cdk.
func cdk(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	expect.OK(t, localservice.ReadSources()) // it runs other scripts
	return exec.CommandContext(t.Context(), "../scripts/cdk", arguments...)
}

// TestArtifacts_ThatWereChanged_AreNotDeployed: every deployment runs exactly the bytes that were built.
func TestArtifacts_ThatWereChanged_AreNotDeployed(t *testing.T) {
	release := t.TempDir()
	putFile(t, release, "commit", "c0ffee\n", 0o600)
	putFile(t, release, "functions/get-edge/bootstrap", "another program", 0o600)
	putFile(t, release, "SHA256SUMS", fmt.Sprintf("%x  ./functions/get-edge/bootstrap\n", sha256.Sum256([]byte("the program"))), 0o600)
	out, err := cdk(t, "deploy", "--artifacts", release, "--context", "stage=dev").CombinedOutput()
	expect.That(t, err != nil && strings.Contains(string(out), "is not the output of ./scripts/build release"),
		"it says %s, %v", out, err)
}

// TestArtifacts_OfALowerFormThanTheData_AreNotDeployed: an old release would erase what a newer one has stored. The AWS
// command is a script that answers as Systems Manager and DynamoDB do.
func TestArtifacts_OfALowerFormThanTheData_AreNotDeployed(t *testing.T) {
	const found = `case "$*" in
ssm*) echo "wavegate-prod-progress" ;;
dynamodb*"--table-name wavegate-prod-progress"*) echo "%s" ;;
*) exit 9 ;;
esac`
	none := `echo "An error occurred (ParameterNotFound) when calling the GetParameter operation" >&2; exit 254`
	for name, c := range map[string]struct{ release, aws, says string }{
		"form 3, of data of before":      {"3", fmt.Sprintf(found, "2"), "the stored data has form 2, and this release knows forms 3 to 3"},
		"form 3, of data of form 4":      {"3", fmt.Sprintf(found, "4"), "the stored data has form 4, and this release knows forms 3 to 3"},
		"form 4, of data of form 4":      {"4", fmt.Sprintf(found, "4"), "deploying commit c0ffee"},
		"form 3, of data without number": {"3", fmt.Sprintf(found, "None"), "deploying commit c0ffee"},
		"form 3, of no data yet":         {"3", none, "deploying commit c0ffee"},
		"the form cannot be read":        {"3", `echo "AccessDeniedException" >&2; exit 254`, "AccessDeniedException"},
	} {
		t.Run(name, func(t *testing.T) {
			release, bin := t.TempDir(), t.TempDir()
			putFile(t, release, "commit", "c0ffee\n", 0o600)
			putFile(t, release, "form", c.release+"\n", 0o600)
			sums := fmt.Sprintf("%x  ./commit\n%x  ./form\n", sha256.Sum256([]byte("c0ffee\n")), sha256.Sum256([]byte(c.release+"\n")))
			putFile(t, release, "SHA256SUMS", sums, 0o600)
			putFile(t, bin, "aws", "#!/bin/sh\n"+c.aws+"\n", 0o700)
			putFile(t, bin, "npm", "#!/bin/sh\necho no packages here >&2\nexit 1\n", 0o700) // nothing is deployed either way
			cmd := cdk(t, "deploy", "--artifacts", release, "--all", "--context", "stage=prod", "--context", "traffic=at-once")
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			deploys := strings.HasPrefix(c.says, "deploying")
			if err == nil || !strings.Contains(string(out), c.says) || strings.Contains(string(out), "deploying commit") != deploys {
				t.Errorf("it says %s, %v", out, err)
			}
		})
	}
}

// TestArtifacts_FormOfARelease_IsThatOfItsCode: scripts/build reads the number from the source.
func TestArtifacts_FormOfARelease_IsThatOfItsCode(t *testing.T) {
	b := expect.Value(os.ReadFile("../scripts/build"))(t)
	_, after, found := strings.Cut(string(b), "\tsed -n 's/^const Form")
	line, _, _ := strings.Cut(after, "\n")
	command, _, to := strings.Cut("sed -n 's/^const Form"+line, " >")
	expect.Must(t, found && to, "scripts/build writes no form")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = ".."
	out := expect.Value(cmd.Output())(t)
	expect.Equal(t, strings.TrimSpace(string(out)), strconv.Itoa(dynamo.Form), "a release has the form %q, and its code %d", out, dynamo.Form)
}
