package login

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

// A Session is a login to a service. A session ends 12 hours after the login, whatever its tokens say.
type Session struct {
	Login   Provider  `json:"login"`
	Access  string    `json:"accessToken"`
	Refresh string    `json:"refreshToken,omitempty"`
	Expires time.Time `json:"expires"` // of the access token
	Began   time.Time `json:"began"`
}

// Lasts is how long a session lasts.
const Lasts = 12 * time.Hour

// Ends is when the person has to sign in again.
func (s Session) Ends() time.Time {
	if s.Refresh == "" {
		return s.Expires
	}
	return s.Began.Add(Lasts)
}

// ErrSignIn means that there is no session, or that it has ended.
var ErrSignIn = errors.New("you are not signed in; run: wavegate login URL")

// A Profile is a service that a person uses.
type Profile struct {
	URL string `json:"url"`
}

// Files keep JSON documents, such as profiles and sessions, in a directory that is the person's own.
type Files struct{ Dir string }

// settings are the stored profiles.
type settings struct {
	Current  string             `json:"current"` // the default one
	Profiles map[string]Profile `json:"profiles"`
}

// Read reads a file; one that does not exist changes nothing.
func (f Files) Read(name string, v any) error {
	text, err := os.ReadFile(filepath.Join(f.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w; remove it and sign in again", filepath.Join(f.Dir, name), err)
	}
	return nil
}

// Write replaces a whole file, readable only by its owner.
func (f Files) Write(name string, v any) error {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(f.Dir, name+".*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(f.Dir, name))
	}
	if err != nil {
		_ = os.Remove(file.Name()) // a leftover after a failure
	}
	return err
}

const (
	settingsFile = "config.json"
	sessionsFile = "sessions.json"
)

// UnknownProfileError means that there is no profile with a name.
type UnknownProfileError struct {
	Name  string
	Known []string
}

func (e *UnknownProfileError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("there is no profile %s, nor another one; run: wavegate login URL --profile %s", e.Name, e.Name)
	}
	return fmt.Sprintf("there is no profile %s; there is %s", e.Name, strings.Join(e.Known, ", "))
}

// Profile returns a profile by its name; with an empty name, the default one.
func (f Files) Profile(name string) (string, Profile, error) {
	all, current, err := f.Profiles()
	if err != nil {
		return "", Profile{}, err
	}
	p, ok := all[cmp.Or(name, current)]
	switch {
	case ok:
		return cmp.Or(name, current), p, nil
	case name == "":
		return "", Profile{}, ErrSignIn
	}
	return name, Profile{}, &UnknownProfileError{name, slices.Sorted(maps.Keys(all))}
}

// Profiles returns all profiles by their names, and the name of the default one.
func (f Files) Profiles() (all map[string]Profile, current string, err error) {
	var s settings
	err = f.Read(settingsFile, &s)
	return s.Profiles, s.Current, err
}

// Use makes a profile the default one.
func (f Files) Use(name string) error {
	if _, _, err := f.Profile(name); err != nil {
		return err
	}
	all, _, err := f.Profiles()
	if err != nil {
		return err
	}
	return f.Write(settingsFile, settings{name, all})
}

// Begin stores a new session of a profile. The first profile becomes the default one; another one does with
// makeDefault.
func (f Files) Begin(name string, p Profile, s Session, makeDefault bool) error {
	var all settings
	if err := f.Read(settingsFile, &all); err != nil {
		return err
	}
	if all.Profiles == nil {
		all.Profiles = map[string]Profile{}
	}
	if all.Profiles[name] = p; makeDefault || all.Current == "" {
		all.Current = name
	}
	if err := f.Write(settingsFile, all); err != nil {
		return err
	}
	return f.keep(name, &s)
}

// End forgets the session of a profile.
func (f Files) End(name string) error { return f.keep(name, nil) }

func (f Files) keep(name string, s *Session) error {
	all := map[string]Session{}
	if err := f.Read(sessionsFile, &all); err != nil {
		return err
	}
	delete(all, name)
	if s != nil {
		all[name] = *s
	}
	return f.Write(sessionsFile, all)
}

// Session returns the session of a profile, or ErrSignIn.
func (f Files) Session(name string) (Session, error) {
	all := map[string]Session{}
	if err := f.Read(sessionsFile, &all); err != nil {
		return Session{}, err
	}
	s, ok := all[name]
	if !ok || !time.Now().Before(s.Ends()) {
		return Session{}, ErrSignIn
	}
	return s, nil
}

// Tokens returns the function Token of an api.Client, for a profile's session. It renews tokens that are about to
// expire, and stores the new ones.
func (f Files) Tokens(client *http.Client, name string) func(ctx context.Context, renew bool) (string, error) {
	var mu sync.Mutex
	last := ""
	return func(ctx context.Context, renew bool) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		s, err := f.Session(name)
		if err != nil {
			return "", err
		}
		// Another process may have renewed it in the meantime.
		if good := time.Until(s.Expires) > time.Minute; good && (!renew || s.Access != last) {
			last = s.Access
			return last, nil
		}
		if s.Refresh == "" {
			return "", ErrSignIn
		}
		ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
		token, err := s.Login.oauth("").TokenSource(ctx, &oauth2.Token{RefreshToken: s.Refresh}).Token()
		if err != nil {
			if other, again := f.Session(name); again == nil && other.Access != s.Access {
				last = other.Access
				return last, nil
			}
			if _, refused := errors.AsType[*oauth2.RetrieveError](err); refused {
				return "", ErrSignIn
			}
			return "", err
		}
		s.Access, s.Expires = token.AccessToken, token.Expiry
		if token.RefreshToken != "" {
			s.Refresh = token.RefreshToken
		}
		last = s.Access
		return last, f.keep(name, &s)
	}
}
