package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/gateway"
	"wavegate/scripts/local/service"
	"wavegate/shared/access/token"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

func TestSettings_OnlyThoseOfFunctionsAreHandedOn(t *testing.T) {
	got := settings([]string{"HOME=/root", "LIMIT_USER=5", "COPILOT_URL=http://localhost", "AWS_SECRET_ACCESS_KEY=mine", "AUTH_ISSUERS=[]",
		"STAGE=dev", "STAGES=2", "GUARD_INTERVAL_SECONDS=1", "REPORT_SHARDS=2"})
	expect.Equal(t, got, []string{"LIMIT_USER=5", "COPILOT_URL=http://localhost", "AUTH_ISSUERS=[]", "STAGE=dev",
		"GUARD_INTERVAL_SECONDS=1", "REPORT_SHARDS=2"}, "the settings are")
}

func TestConsole_ShowsCallsAndComplaints(t *testing.T) {
	var out bytes.Buffer
	c := console{to: &out}
	c.access(gateway.Access{Method: "GET", Path: "/seeding", Status: 200})
	c.open()
	c.access(gateway.Access{Method: "GET", Path: "/api/x", Status: 502, Duration: 7 * time.Millisecond,
		Response: "DEFAULT_5XX", Cause: errors.New("exit status 2")})
	c.line("get-x", `{"level":"INFO","msg":"call"}`)
	c.line("get-x", `{"_aws":{},"Calls":1}`)
	c.line("get-x", `{"level":"ERROR","msg":"the store is gone"}`)
	c.line("get-x", `panic: nil map`)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{
		`502 GET    /api/x  7 ms  by the gateway: DEFAULT_5XX: exit status 2`,
		`get-x: {"level":"ERROR","msg":"the store is gone"}`,
		`get-x: panic: nil map`,
	}
	for i, line := range lines {
		_, lines[i], _ = strings.Cut(line, " ") // after the time
	}
	expect.Equal(t, lines, want, "the console shows")
}

// dev starts ./scripts/dev, waits until it is ready, and returns its URL and a function that ends it.
func dev(t *testing.T, env ...string) (url string, cmd *exec.Cmd) {
	t.Helper()
	root := expect.Value(service.Root())(t)
	cmd = exec.Command(filepath.Join(root, "scripts", "dev"))
	cmd.Env = append(append(os.Environ(), "PORT=0", "WAVEGATE_DEV_DIR="+t.TempDir()), env...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out := expect.Value(cmd.StdoutPipe())(t)
	expect.OK(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if u, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return u, cmd
		}
	}
	t.Fatalf("it ended without being ready: %s", problems.String())
	return "", nil
}

func TestDev_AnswersOnceItIsReady_AndEndsOnInterrupt(t *testing.T) {
	url, cmd := dev(t, "PREFIX=/prod")
	expect.That(t, strings.HasSuffix(url, "/prod"), "ready at %s", url)
	res := expect.Value(http.Get(url + "/api/factories/munich-1"))(t)
	res.Body.Close()
	expect.Equal(t, res.StatusCode, http.StatusUnauthorized, "without a token:")
	expect.OK(t, cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	_, err := http.Get(url)
	expect.That(t, errors.Is(err, syscall.ECONNREFUSED), "after its end: %v", err)
}

func TestDev_AskedHowToUseIt_OrMisused_StartsNothing(t *testing.T) {
	root := expect.Value(service.Root())(t)
	for option, code := range map[string]int{"-h": 0, "--help": 0, "--other": 2, "more": 2} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "scripts", "dev"), option)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != code || !strings.Contains(string(out), "PORT=8080") || strings.Contains(string(out), "set -eu") {
			t.Errorf("%s: %d %s", option, cmd.ProcessState.ExitCode(), out)
		}
	}
}

// TestDev_GuardInterval_IsThatOfTheTicksAndOfPolicies: without a tick, a count is kept for 90 s.
func TestDev_GuardInterval_IsThatOfTheTicksAndOfPolicies(t *testing.T) {
	dir := t.TempDir()
	url, _ := dev(t, "GUARD_INTERVAL_SECONDS=1", "WAVEGATE_DEV_DIR="+dir)
	issuers := expect.Value(devissuer.Load(dir))(t)
	token := expect.Value(issuers.Token(devissuer.Claims{User: "olga", Roles: []string{"platform_owner"}}))(t)
	call := func(method, path, body string) (*http.Response, string) {
		t.Helper()
		req := expect.Value(http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body)))(t)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		res := expect.Value(http.DefaultClient.Do(req))(t)
		defer res.Body.Close()
		text := expect.Value(io.ReadAll(res.Body))(t)
		return res, string(text)
	}
	started, text := call(http.MethodPost, "/api/ota/rollouts",
		`{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.0.0","policy":{"guard":{"silentAfter":"PT1S","decideWithin":"PT1S"}}}`)
	expect.Must(t, started.StatusCode == http.StatusCreated, "%d %s", started.StatusCode, text)
	counts := map[string]bool{}
	for ends := time.Now().Add(30 * time.Second); len(counts) < 3; time.Sleep(200 * time.Millisecond) {
		expect.Must(t, !time.Now().After(ends), "in 30 s it was counted at %v", counts)
		var p struct {
			AsOf  string
			Guard struct{ Sentence string }
		}
		if _, text := call(http.MethodGet, started.Header.Get("Location")+"/progress", ""); json.Unmarshal([]byte(text),
			&p) == nil && p.Guard.Sentence != "" {
			counts[p.AsOf] = true
		}
	}
}

func TestRun_Misused_SaysWhatIsWrong(t *testing.T) {
	functions := expect.Value(service.Build(t.Context(), t.Output()))(t)
	taken := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for name, c := range map[string]struct{ variable, value, want string }{
		"an unknown store":       {"STORE", "other", "STORE=other is unknown"},
		"data without its store": {"DATA_DIR", "x", "DATA_DIR needs STORE=dynamodb-local"},
		"an unknown seed":        {"SEED", "some", "SEED=some is unknown"},
		"a port that is taken":   {"PORT", port, "choose another port"},
		"a wrong setting":        {"LIMIT_USER", "many", "not a whole number from 1 to 30000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PORT", "0")
			t.Setenv("WAVEGATE_DEV_DIR", t.TempDir())
			t.Setenv(c.variable, c.value)
			err := run(t.Context(), functions)
			expect.That(t, err != nil && strings.Contains(err.Error(), c.want), "got %v, want it to say %q", err, c.want)
		})
	}
}

// TestDev_WithoutTheRenderer_FetchesItOrSaysWhatIsMissing runs only the script: fake programs report that they were
// started.
func TestDev_WithoutTheRenderer_FetchesItOrSaysWhatIsMissing(t *testing.T) {
	root := expect.Value(service.Root())(t)
	script := expect.Value(os.ReadFile(filepath.Join(root, "scripts", "dev")))(t)
	sh := expect.Value(exec.LookPath("sh"))(t)
	const fetched = ".dev/functions/docs/redoc.js"
	for name, c := range map[string]struct {
		programs []string
		ready    bool
		says     string
	}{
		"npm is there":          {[]string{"npm"}, true, ""},
		"npm is not there":      {nil, false, "needs npm"},
		"it was fetched before": {nil, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{
				"scripts/dev":      string(script),
				"scripts/build":    "#!/bin/sh\nmkdir -p .dev/functions/docs\ncp scripts/local .dev/local\n",
				"scripts/contract": "#!/bin/sh\n[ \"$1\" = docs ] && echo >" + fetched + "\n",
				"bin/go":           "#!/bin/sh\n",
				// The service runs until it has the renderer, if one is expected.
				"scripts/local": "#!/bin/sh\n" + waits(c.ready),
			}
			for _, program := range c.programs {
				files["bin/"+program] = "#!/bin/sh\n"
			}
			if c.ready && c.programs == nil {
				files[fetched] = "here\n"
			}
			for file, text := range files {
				file = filepath.Join(dir, file)
				expect.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
				expect.OK(t, os.WriteFile(file, []byte(text), 0o755))
			}
			for _, tool := range []string{"dirname", "mkdir", "cp", "sleep"} {
				path := expect.Value(exec.LookPath(tool))(t)
				expect.OK(t, os.Symlink(path, filepath.Join(dir, "bin", tool)))
			}
			cmd := exec.CommandContext(t.Context(), sh, filepath.Join(dir, "scripts", "dev"))
			cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin")}
			out, err := cmd.CombinedOutput()
			expect.Must(t, err == nil, "%v: %s", err, out)
			_, err = os.Stat(filepath.Join(dir, fetched))
			expect.That(t, (err == nil) == c.ready, "the renderer: %v; it said %s", err, out)
			if c.says != "" && !strings.Contains(string(out), c.says) || c.says == "" && strings.Contains(string(out), "/docs") {
				t.Errorf("it said %s", out)
			}
		})
	}
}

// waits makes the service wait for the renderer, if one is expected.
func waits(expected bool) string {
	if !expected {
		return ""
	}
	return "for i in 1 2 3 4 5 6 7 8 9 10; do [ -f .dev/functions/docs/redoc.js ] && exit; sleep 1; done\n"
}

// TestCheck_ASettingThatKeepsAFunctionFromItsStart_EndsTheStart: otherwise the service says that it is ready, and each call fails.
func TestCheck_ASettingThatKeepsAFunctionFromItsStart_EndsTheStart(t *testing.T) {
	if err := check(); err != nil {
		t.Fatalf("without any setting: %v", err)
	}
	for name, rule := range setting.Ranges {
		for _, text := range []string{strconv.Itoa(rule.Most + 1), strconv.Itoa(rule.Least - 1), "many"} {
			t.Run(string(name)+"="+text, func(t *testing.T) {
				t.Setenv(string(name), text)
				err := check()
				expect.That(t, err != nil && strings.Contains(err.Error(), string(name)), "%v", err)
			})
		}
	}
	for name, text := range map[string]string{
		"LIMIT_ORGANIZATION": "5", // lower than a user's
		"COPILOT_URL":        "http://user@example.com/",
		token.Setting:        "none",
	} {
		t.Run(name+"="+text, func(t *testing.T) {
			t.Setenv(name, text)
			expect.That(t, check() != nil, "it is taken")
		})
	}
}
