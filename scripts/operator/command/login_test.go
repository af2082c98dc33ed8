package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/operator/login"
	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

// browser is a person at a browser who fills in the issuer's form and follows its redirects.
func (d *desk) browser(user string) func(context.Context, string) error {
	return func(_ context.Context, address string) error {
		go func() {
			res, err := http.DefaultClient.PostForm(address, url.Values{"user": {user}, "organization": {"wavegate"}, "role": {"platform_owner"}})
			if err != nil {
				d.Errorf("the browser: %v", err)
				return
			}
			_ = res.Body.Close()
			if res.StatusCode != http.StatusOK || !strings.Contains(res.Request.URL.String(), "/callback?") {
				d.Errorf("the browser ended at %s with %d", res.Request.URL, res.StatusCode)
			}
		}()
		return nil
	}
}

func TestLogin_ByTheBrowser(t *testing.T) {
	d := newDesk(t)
	d.does("logout").is(run.Done)
	d.does("whoami").is(run.SignIn)
	d.changed(t.Context(), func(e *run.Environment) { e.Open = d.browser("ada") }, "login", d.Target.URL).is(run.Done).
		says("signed in to " + d.Target.URL + " as ada").warns("/authorize?")
	d.does("whoami").is(run.Done).says("ada", "platform_owner", "calls left")
}

func TestLogin_WithoutABrowser_TakesTheAddressThatItEndsAt(t *testing.T) {
	d := newDesk(t)
	ended := func(printed string) string {
		// The person opens the printed address elsewhere, and copies the one that the browser cannot show.
		_, rest, _ := strings.Cut(printed, "sign in:\n\n  ")
		address, _, _ := strings.Cut(rest, "\n")
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res := expect.Value(client.PostForm(address, url.Values{"user": {"ada"}, "role": {"platform_owner"}}))(t)
		_ = res.Body.Close()
		return res.Header.Get("Location") + "\n"
	}
	d.changed(t.Context(), func(e *run.Environment) {
		printed := e.Err.(*bytes.Buffer)
		e.In = readerFunc(func(b []byte) (int, error) { return copy(b, ended(printed.String())), nil })
	}, "login", d.Target.URL, "--no-browser").is(run.Done)
	d.does("whoami").is(run.Done).says("ada")
	d.typed = strings.NewReader("http://localhost:47813/callback?code=stolen&state=another\n")
	d.does("login", d.Target.URL, "--no-browser").is(run.Refused).warns("not the answer to this login")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestLogin_Files_AreTheOwnersOnly_AndHoldNoKeys(t *testing.T) {
	d := newDesk(t)
	expect.OK(t, filepath.WalkDir(d.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if info.Mode().Perm() != 0o600 || strings.Contains(string(text), "PRIVATE") {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}))
}

// changes changes the stored session.
func (d *desk) changes(how func(*login.Session)) {
	d.Helper()
	path := filepath.Join(d.dir, "sessions.json")
	all := map[string]login.Session{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	expect.OK(d, err)
	for name, s := range all {
		how(&s)
		all[name] = s
	}
	if text, err = json.Marshal(all); err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	expect.OK(d, err)
}

func TestSession_IsRenewed_UntilItEnds(t *testing.T) {
	d := newDesk(t)
	first := ""
	d.changes(func(s *login.Session) { first, s.Expires = s.Access, time.Now() })
	d.does("whoami").is(run.Done)
	d.changes(func(s *login.Session) {
		expect.That(t, s.Access != first, "the token was not renewed")
		s.Access = "not.a.token" // which the service refuses although it has not expired
	})
	d.does("whoami").is(run.Done)
	d.changes(func(s *login.Session) { s.Began = time.Now().Add(-login.Lasts) })
	d.does("whoami").is(run.SignIn).warns("wavegate login")
	d.does("login", d.Target.URL, "--as", "olga").is(run.Done)
	d.changes(func(s *login.Session) { s.Expires, s.Refresh = time.Now(), "spent" })
	d.does("whoami").is(run.SignIn)
}

func TestLogin_WhatIsNotRight_IsRefused(t *testing.T) {
	d := newDesk(t)
	d.does("login", d.Target.URL, "--as", "box-1", "--role", "edge").is(run.Refused).warns("access_denied")
	d.does("login", d.Target.URL, "--as", "olga", "--role", "root").is(run.Refused).warns("there is no role")
	d.does("login", d.Target.URL+"/elsewhere").is(run.Refused).warns("does not say how to sign in")
	d.does("login", "http://192.0.2.1").is(run.Misused).warns("https")
	d.does("whoami").is(run.Done).says("olga") // the earlier session is kept
}

func TestProfiles_TheDefaultOne_ChangesOnlyIfItIsSaid(t *testing.T) {
	d := newDesk(t)
	first := strings.TrimPrefix(d.Target.URL, "http://")
	vera := []string{"login", d.Target.URL, "--as", "vera", "--role", "platform_viewer", "--profile", "reader"}
	d.does(vera...).is(run.Done).says("without --profile, commands still go to " + first)
	d.does("whoami").is(run.Done).says("olga")
	d.does("whoami", "--profile", "reader").is(run.Done).says("vera")
	for _, args := range [][]string{{"whoami"}, {"logout"}} {
		d.does(append(args, "--profile", "none")...).is(run.Misused).warns("there is no profile none; there is " + first + ", reader")
	}
	d.does(append(vera, "--default")...).is(run.Done).says("without --profile, commands now go to reader, no longer to " + first)
	d.does("whoami").is(run.Done).says("vera")
	d.does(vera...).is(run.Done)
	d.does("whoami").is(run.Done).says("vera")
	d.does("login", d.Target.URL, "--as", "olga").is(run.Done).says("now go to " + first + ", no longer to reader")
	d.does("whoami").is(run.Done).says("olga")

	d.does("profiles").is(run.Done).says(first+" (default)", "reader", "vera", "olga")
	d.does("profiles", "--json").is(run.Done).says(`"name":"reader"`, `"signedInAs":"vera"`)
	d.does("use", "reader").is(run.Done).says("commands now go to reader")
	d.does("whoami").is(run.Done).says("vera")
	d.does("use", "none").is(run.Misused).warns("there is no profile none")
	d.changed(t.Context(), func(e *run.Environment) {
		e.Getenv = func(name string) string { return map[string]string{"WAVEGATE_PROFILE": first}[name] }
	}, "whoami").is(run.Done).says("olga")
	d.does("logout").is(run.Done)
	d.does("profiles").is(run.Done).says("reader", "olga")
	d.does("whoami").is(run.SignIn)
}

func TestProfiles_BeforeTheFirstLogin_ThereAreNone(t *testing.T) {
	d := newDesk(t)
	expect.OK(t, os.RemoveAll(d.dir))
	d.does("profiles").is(run.Done).warns("no service yet; run: wavegate login URL")
	d.does("profiles", "--json").is(run.Done).says("[]")
	d.does("whoami", "--profile", "prod").is(run.Misused).warns("wavegate login URL --profile prod")
	d.does("whoami").is(run.SignIn)
}

func TestProfiles_TheFirst_IsTheDefaultOne(t *testing.T) {
	newDesk(t).as("vera", "--role", "platform_viewer", "--profile", "reader").does("whoami").is(run.Done).says("vera")
}

func TestToken_OfAPipeline_NeedsNoLogin(t *testing.T) {
	d := newDesk(t)
	token := strings.TrimPrefix(d.Owner(t).Bearer, "Bearer ")
	d.nobody().with("WAVEGATE_TOKEN", token, "WAVEGATE_URL", d.Target.URL).does("whoami").is(run.Done).says("olga")
	d.nobody().with("WAVEGATE_TOKEN", token).does("whoami").is(run.SignIn)
}
