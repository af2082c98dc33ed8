package command

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/login"
)

func (a *app) login() *cobra.Command {
	var o login.Identity
	var noBrowser, makeDefault bool
	cmd := &cobra.Command{
		Use: "login URL", Short: "Sign in to a service",
		Long: "Signs in with the browser. The session lasts 12 hours at most. Without --profile, the service becomes the default one.\n" +
			"With --profile, it does so only if it is the first one, or with --default.\n\n" +
			"Pipelines need no login: they set WAVEGATE_TOKEN to an access token, and WAVEGATE_URL to the service.",
		Example: "  wavegate login https://api.example.com\n  wavegate login http://127.0.0.1:8080 --as olga",
		Args:    cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			service, err := login.Service(args[0])
			if err != nil {
				return fail(Misused, "%w", err)
			}
			answered := a.slow(service)
			config, err := login.Discover(ctx, a.HTTP, service)
			answered()
			if _, lost := errors.AsType[*url.Error](err); lost && ctx.Err() == nil {
				return &api.UnreachableError{URL: service, Cause: err}
			}
			if err != nil {
				return err
			}
			session, err := a.signIn(ctx, config, o, noBrowser)
			if err != nil {
				return err
			}
			name := a.profile
			if name == "" {
				name = hostOf(service)
			}
			before, _, _ := a.Files.Profile("") // without one, this one is the first
			if err := a.Files.Begin(name, login.Profile{URL: service}, session, makeDefault || a.profile == ""); err != nil {
				return err
			}
			who, _ := claims(session.Access)
			a.say("signed in to %s as %s until %s", service, who.Subject, clock(session.Ends()))
			switch now, _, err := a.Files.Profile(""); {
			case err != nil:
				return err
			case now != name:
				a.say("without --profile, commands still go to %s; --default at login changes that", now)
			case before != "" && before != name:
				a.say("without --profile, commands now go to %s, no longer to %s", now, before)
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&o.As, "as", "", "the user to sign in as, without a password; for the local service only")
	cmd.Flags().StringArrayVar(&o.Roles, "role", []string{"platform_owner"}, "the role to have with --as; can be repeated")
	cmd.Flags().StringVar(&o.Organization, "org", "wavegate", "the organization to belong to with --as")
	cmd.Flags().BoolVar(&makeDefault, "default", false, "use this service for commands without --profile")
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address to open, and ask for the one at which the browser ends")
	return cmd
}

func (a *app) signIn(ctx context.Context, c login.Provider, o login.Identity, noBrowser bool) (login.Session, error) {
	switch {
	case o.As != "":
		return login.SignIn(ctx, a.HTTP, c, login.Redirect(login.Ports[0]), o, login.AsNamed(a.HTTP))
	case noBrowser:
		return login.SignIn(ctx, a.HTTP, c, login.Redirect(login.Ports[0]), o, func(_ context.Context, address string) (string, error) {
			fmt.Fprintf(a.Err, "Open this address and sign in:\n\n  %s\n\nThe browser ends at a page that it cannot show. Paste the address of that page here: ", address)
			return a.line(), nil
		})
	}
	receiver, err := login.Receive()
	if err != nil {
		return login.Session{}, err
	}
	defer func() { _ = receiver.Close() }() // the login has closed it, as a rule
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	return login.SignIn(ctx, a.HTTP, c, receiver.Redirect, o, receiver.Browse(func(address string) error {
		fmt.Fprintf(a.Err, "Sign in with the browser. If none opens, open this address:\n\n  %s\n\n", address)
		_ = a.Open(ctx, address) // the address is printed
		return nil
	}))
}

func (a *app) logout() *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "Forget the session", Args: cobra.NoArgs,
		Example: "  wavegate logout",
		RunE: a.run(func(context.Context, []string) error {
			name, _, err := a.Files.Profile(a.profile)
			if errors.Is(err, login.ErrSignIn) {
				return nil // there is nothing to forget
			}
			if err != nil {
				return err
			}
			return a.Files.End(name)
		}),
	}
}

func (a *app) whoami() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show who is signed in, where, and how many calls are left", Args: cobra.NoArgs,
		Example: "  wavegate whoami",
		RunE: a.run(func(ctx context.Context, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			me, answer, err := api.Get[struct {
				UserID         string `json:"userId"`
				OrganizationID string `json:"organizationId"`
				Limits         []struct {
					Policy           string `json:"policy"`
					Limit, Remaining int
				} `json:"limits"`
			}](ctx, c, "/api/rate-limits/me", nil)
			if err != nil {
				return err
			}
			if a.json {
				a.show(answer.Body)
				return nil
			}
			rows := []string{cells("service", c.URL), cells("user", me.UserID), cells("organization", me.OrganizationID)}
			if token, err := c.Token(ctx, false); err == nil {
				if who, ok := claims(token); ok {
					rows = append(rows, cells("roles", strings.Join(who.Roles, ", ")), cells("token until", clock(time.Unix(who.Expires, 0))))
				}
			}
			for _, l := range me.Limits {
				rows = append(rows, cells("limit "+l.Policy, fmt.Sprintf("%d of %d calls left", l.Remaining, l.Limit)))
			}
			return a.table(rows...)
		}),
	}
}

// A token has the claims of an access token that the command displays. Only the service verifies it.
type token struct {
	Subject string   `json:"sub"`
	Roles   []string `json:"roles"`
	Expires int64    `json:"exp"`
}

func claims(raw string) (t token, ok bool) {
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return t, false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return t, false
	}
	err = json.Unmarshal(text, &t)
	return t, err == nil
}

// person returns who is signed in, and until when, by the stored token. It makes no call.
func (a *app) person() (who token, until time.Time, ok bool) {
	raw := a.Getenv("WAVEGATE_TOKEN")
	if raw == "" {
		name, _, err := a.Files.Profile(a.profile)
		if err != nil {
			return who, until, false
		}
		s, err := a.Files.Session(name)
		if err != nil {
			return who, until, false
		}
		raw, until = s.Access, s.Ends()
	}
	if who, ok = claims(raw); until.IsZero() {
		until = time.Unix(who.Expires, 0)
	}
	return who, until, ok
}

// hostOf is the default name of a profile.
func hostOf(service string) string {
	u, err := url.Parse(service)
	if err != nil || u.Host == "" {
		return "default"
	}
	return u.Host
}

// clock formats a time of today, and adds the date to any other.
func clock(at time.Time) string {
	at = at.Local()
	if today := "2006-01-02"; time.Now().Format(today) == at.Format(today) {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}
