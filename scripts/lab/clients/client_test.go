package clients

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
	"wavegate/shared/testing/expect"
)

const fetches = "./scripts/contract clients fetches it"

// TestContract_AGeneratedClient_DoesTheREADMEsSession shows that others can program against the contract: common
// generators make clients from it, which run the README's first session. The clients continue if a later service
// answers with a problem code and a manifest source that the contract does not list.
func TestContract_AGeneratedClient_DoesTheREADMEsSession(t *testing.T) {
	expect.Full(t)
	t.Run("Go", func(t *testing.T) {
		tools := absolute(t, "..", "tools", "oapi-codegen.mod")
		dir := copied(t, "client")
		built := command(t, "go", "tool", "-modfile="+tools, "-n", "oapi-codegen")
		in(t, dir, strings.TrimSpace(built), "-config", "generate.yaml", theContract(t))
		goBodies(t, filepath.Join(dir, "client.gen.go"))
		in(t, dir, "go", "build", "-o", "client", ".")
		doSession(t, dir, filepath.Join(dir, "client"))
	})
	t.Run("Python", func(t *testing.T) {
		bin := filepath.Join(absolute(t, "..", "..", "..", ".dev", "openapi-python-client"), "bin")
		expect.Program(t, fetches, filepath.Join(bin, "openapi-python-client"))
		dir := copied(t, "client-python")
		in(t, dir, filepath.Join(bin, "openapi-python-client"), "generate", "--path", theContract(t),
			"--config", "generate.yaml", "--meta", "none", "--output-path", "wavegate_client")
		pythonBodies(t, filepath.Join(dir, "wavegate_client"))
		doSession(t, dir, filepath.Join(bin, "python"), filepath.Join(dir, "session.py"))
	})
	t.Run("TypeScript", func(t *testing.T) {
		modules := absolute(t, "..", "..", "node_modules")
		expect.Program(t, fetches, filepath.Join(modules, ".bin", "openapi-typescript"))
		dir := copied(t, "client-typescript")
		expect.OK(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
		in(t, dir, filepath.Join(modules, ".bin", "openapi-typescript"), theContract(t), "-o", "contract.d.ts")
		in(t, dir, filepath.Join(modules, ".bin", "tsc"), "-p", ".")
		doSession(t, dir, "node", filepath.Join(dir, "session.js"))
	})
}

// TestContract_OpenAPIGenerator_TakesItAsItIs, for each of four languages. Three of the clients are compiled and make ten calls.
func TestContract_OpenAPIGenerator_TakesItAsItIs(t *testing.T) {
	expect.Full(t)
	bin := filepath.Join(absolute(t, "..", "..", "..", ".dev", "openapi-python-client"), "bin")
	modules := absolute(t, "..", "..", "node_modules")
	expect.Program(t, fetches, filepath.Join(bin, "openapi-generator-cli"))
	expect.Program(t, fetches, filepath.Join(modules, ".bin", "tsc"))
	generated := func(t *testing.T, language string, options ...string) (dir string) {
		t.Helper()
		dir = t.TempDir()
		in(t, dir, filepath.Join(bin, "openapi-generator-cli"),
			append([]string{"generate", "-i", theContract(t), "-g", language, "-o", "."}, options...)...)
		return dir
	}
	add := func(t *testing.T, language, dir string) {
		t.Helper()
		expect.OK(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "openapi-generator", language))))
	}
	t.Run("python", func(t *testing.T) {
		dir := generated(t, "python")
		add(t, "python", dir)
		in(t, dir, filepath.Join(bin, "python"), "-m", "compileall", "-q", "openapi_client")
		doSession(t, dir, filepath.Join(bin, "python"), "session.py")
	})
	t.Run("typescript-fetch", func(t *testing.T) {
		dir := generated(t, "typescript-fetch")
		add(t, "typescript-fetch", dir)
		in(t, dir, filepath.Join(modules, ".bin", "tsc"), "-p", ".")
		doSession(t, dir, "node", filepath.Join("out", "session.js"))
	})
	t.Run("java", func(t *testing.T) {
		// Otherwise, a Java client sends empty lists, and refuses an answer with a field that it does not know.
		dir := generated(t, "java", "--additional-properties=containerDefaultToNull=true,disallowAdditionalPropertiesIfNotPresent=false")
		add(t, "java", filepath.Join(dir, "src", "main", "java"))
		in(t, dir, "mvn", "--batch-mode", "--quiet", "compile", "dependency:copy-dependencies", "-DoutputDirectory=lib")
		doSession(t, dir, "java", "-cp", filepath.Join("target", "classes")+string(os.PathListSeparator)+filepath.Join("lib", "*"), "Session")
	})
	t.Run("csharp", func(t *testing.T) { generated(t, "csharp") })
}

// doSession runs a client on a new service, and on one that knows more than this contract.
func doSession(t *testing.T, dir, program string, arguments ...string) {
	t.Helper()
	w := harness.New(t)
	expect.OK(t, w.Seed(t.Context()))
	later := httptest.NewServer(http.HandlerFunc(fromTomorrow))
	defer later.Close()
	token := func(c *harness.Caller) string { return strings.TrimPrefix(c.Bearer, "Bearer ") }
	session := exec.CommandContext(t.Context(), program, append(arguments, w.Target.URL, later.URL)...)
	session.Dir = dir
	session.Env = append(os.Environ(),
		"OWNER="+token(w.As(t, "olga", "wavegate", auth.PlatformOwner)),
		"ENGINEER="+token(w.Engineer(t, "acme")),
		"BOX_0027="+token(w.Box(t, "box-0027")),
		"BOX_0001="+token(w.Box(t, "box-0001")),
	)
	out, err := session.CombinedOutput()
	expect.Must(t, err == nil && string(out) == "done\n", "the generated client: %v: %s", err, out)
}

// fromTomorrow answers like a later service: polls with another source, and everything else with another problem.
func fromTomorrow(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/update/manifest") {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("ETag", `"x"`)
		_, _ = fmt.Fprintf(w, `{"edgeId":"box-0027","edgeType":"gateway-x","channel":"stable","version":"1.1.0",`+
			`"artifactUrl":"https://artifacts.example.com/1.1.0","sha256":"%s","source":"from-tomorrow","pollIntervalSeconds":60,"fromTomorrow":{}}`, strings.Repeat("0b", 32))
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = fmt.Fprint(w, `{"type":"urn:wavegate:problem:from-tomorrow","title":"New","status":404,"detail":"New.","code":"FROM_TOMORROW","requestId":"1"}`)
}

func absolute(t *testing.T, parts ...string) string {
	t.Helper()
	path := expect.Value(filepath.Abs(filepath.Join(parts...)))(t)
	return path
}

func theContract(t *testing.T) string {
	t.Helper()
	return absolute(t, "..", "..", "..", "shared", "contract", "openapi.yaml")
}

// copied makes a copy of a client's folder, so that the generator can write to it.
func copied(t *testing.T, client string) string {
	t.Helper()
	dir := t.TempDir()
	expect.OK(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", client))))
	return dir
}

// command runs a program and returns what it prints.
func command(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, arguments...).Output()
	expect.Must(t, err == nil, "%s %q: %v", name, arguments, err)
	return string(out)
}

// in runs a program in a directory, outside of this module.
func in(t *testing.T, dir, name string, arguments ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, arguments...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off")
	out, err := c.CombinedOutput()
	expect.Must(t, err == nil, "%s %q: %v\n%s", name, arguments, err, out)
}
