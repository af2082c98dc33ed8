package devissuer_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
)

// TestMain lets a test run this program as one of several that load at the same time.
func TestMain(m *testing.M) {
	if dir := os.Getenv("LOAD_FROM"); dir != "" {
		issuers, err := devissuer.Load(dir)
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString(issuers.Setting())
		return
	}
	os.Exit(m.Run())
}

func load(t *testing.T, dir string) *devissuer.Issuers {
	t.Helper()
	issuers := expect.Value(devissuer.Load(dir))(t)
	return issuers
}

// verify verifies a token like the authorizer, at a later time.
func verify(t *testing.T, issuers *devissuer.Issuers, raw string, in time.Duration) (auth.Principal, error) {
	t.Helper()
	trusted := expect.Value(token.ParseIssuers(issuers.Setting()))(t)
	now := func() time.Time { return time.Now().Add(in) }
	return token.New(trusted, token.Options{Now: now}).Verify(t.Context(), raw)
}

func TestToken_IsAcceptedByTheService(t *testing.T) {
	issuers := load(t, t.TempDir())
	for name, c := range map[string]struct {
		claims devissuer.Claims
		issuer string
	}{
		"person": {devissuer.Claims{User: "ada", Organization: "acme",
			Roles: []string{"organization_admin", "production_engineer"}}, devissuer.People},
		"owner":                 {devissuer.Claims{User: "root@acme", Roles: []string{"platform_owner"}}, devissuer.People},
		"person without a role": {devissuer.Claims{User: "eve", Organization: "acme"}, devissuer.People},
		"box":                   {devissuer.Claims{User: "box-7", Organization: "acme", Roles: []string{"edge"}}, devissuer.Fleet},
	} {
		t.Run(name, func(t *testing.T) {
			raw := expect.Value(issuers.Token(c.claims))(t)
			p := expect.Value(verify(t, issuers, raw, 59*time.Minute))(t)
			got := devissuer.Claims{User: p.UserID, Organization: p.OrganizationID}
			for _, role := range p.Roles {
				got.Roles = append(got.Roles, string(role))
			}
			expect.Equal(t, got, c.claims, "accepted")
			expect.Equal(t, p.Issuer, c.issuer, "accepted from")
		})
	}
}

func TestToken_TTL_SetsTheExpiry(t *testing.T) {
	issuers := load(t, t.TempDir())
	for ttl, in := range map[time.Duration]time.Duration{time.Minute: 2 * time.Minute, 0: 2 * time.Hour, -time.Minute: 0} {
		raw, err := issuers.Token(devissuer.Claims{User: "ada", TTL: ttl})
		expect.OK(t, err)
		_, err = verify(t, issuers, raw, in)
		r, ok := errors.AsType[*token.Refusal](err)
		expect.That(t, ok && r.Reason == token.Expired, "ttl %v, %v from now: %v", ttl, in, err)
	}
}

func TestToken_ServiceWouldRefuseIt_IsAnError(t *testing.T) {
	issuers := load(t, t.TempDir())
	for name, c := range map[string]devissuer.Claims{
		"no user":                 {Organization: "acme"},
		"unknown role":            {User: "ada", Roles: []string{"root"}},
		"the placeholder":         {User: "ada", Roles: []string{"(member)"}},
		"edge with another role":  {User: "ada", Roles: []string{"edge", "platform_owner"}},
		"organization that is no": {User: "ada", Organization: "a/b"},
		"box with an invalid id":  {User: "box 7", Roles: []string{"edge"}},
	} {
		raw, err := issuers.Token(c)
		expect.That(t, err != nil && raw == "", "%s: token %q, error %v", name, raw, err)
	}
}

func TestLoad_Again_GivesTheSameKeys(t *testing.T) {
	dir := t.TempDir()
	raw, err := load(t, dir).Token(devissuer.Claims{User: "ada"})
	expect.OK(t, err)
	expect.Value(verify(t, load(t, dir), raw, 0))(t)
	_, err = verify(t, load(t, t.TempDir()), raw, 0)
	expect.That(t, err != nil, "another directory has the same keys")
}

func TestLoad_KeyFiles_AreReadableOnlyByTheOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	load(t, dir)
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		expect.Equal(t, info.Mode().Perm()&0o077, 0, "%s has mode %v", path, info.Mode())
		if !entry.IsDir() {
			files++
		}
		return nil
	})
	expect.That(t, err == nil && files == 3, "%d files, want one for each key and no others; error %v", files, err)
}

func TestLoad_ManyProcessesAtOnce_GetTheSameKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	settings := make([]string, 8)
	var processes sync.WaitGroup
	for n := range settings {
		processes.Go(func() {
			command := exec.CommandContext(t.Context(), os.Args[0])
			command.Env = append(os.Environ(), "LOAD_FROM="+dir)
			out, err := command.Output()
			expect.That(t, err == nil, "process %d: %v", n, err)
			settings[n] = string(out)
		})
	}
	processes.Wait()
	want := load(t, dir).Setting()
	for n, setting := range settings {
		expect.Equal(t, setting, want, "the keys of process %d:", n)
	}
}

func TestLoad_BrokenKeyFile_IsNamedAndNotChanged(t *testing.T) {
	dir := t.TempDir()
	load(t, dir)
	fleet := expect.Value(os.ReadFile(filepath.Join(dir, "fleet.pem")))(t)
	for name, text := range map[string]string{"empty": "",
		"no key": "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", "another's key": string(fleet)} {
		file := filepath.Join(dir, "people.pem")
		expect.OK(t, os.WriteFile(file, []byte(text), 0o600))
		if _, err := devissuer.Load(dir); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: error %v", name, err)
		}
		after, err := os.ReadFile(file)
		expect.That(t, err == nil && string(after) == text, "%s: the file was changed, error %v", name, err)
	}
}

func TestDir_WithoutTheEnvironmentVariable_IsInTheRepository(t *testing.T) {
	t.Setenv(devissuer.DirEnv, "")
	dir, err := devissuer.Dir()
	expect.OK(t, err)
	_, err = os.Stat(filepath.Join(filepath.Dir(dir), "go.mod"))
	expect.That(t, err == nil && filepath.Base(dir) == ".dev", "dir %s, error %v", dir, err)
	t.Setenv(devissuer.DirEnv, "/elsewhere")
	dir, err = devissuer.Dir()
	expect.That(t, err == nil && dir == "/elsewhere", "dir %s, error %v", dir, err)
	t.Setenv(devissuer.DirEnv, "")
	t.Chdir(t.TempDir())
	dir, err = devissuer.Dir()
	expect.That(t, err != nil, "outside of the repository the directory is %s", dir)
}
