package account

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/login"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
)

func signIn(r *run.Run) *cobra.Command {
	var o login.Identity
	cmd := &cobra.Command{
		Use: "login URL", Short: "Sign in to a service",
		Long: "Signs in with the browser. The session lasts 12 hours at most. Without --profile, the service becomes the default one. " +
			"With --profile, it does so only if it is the first one, or with --default.\n\n" +
			"Pipelines need no login: they set WAVEGATE_TOKEN to an access token, and WAVEGATE_URL to the service.",
		Example: "wavegate login https://api.example.com\nwavegate login http://127.0.0.1:8080 --as olga",
	}
	f := cmd.Flags()
	f.StringVar(&o.As, "as", "", "the user to sign in as, without a password; for the local service only")
	f.StringArrayVar(&o.Roles, "role", []string{"platform_owner"}, "the role to have with --as; can be repeated")
	f.StringVar(&o.Organization, "org", "wavegate", "the organization to belong to with --as")
	makeDefault := f.Bool("default", false, "use this service for commands without --profile")
	noBrowser := f.Bool("no-browser", false, "print the address to open, and ask for the one at which the browser ends")
	return r.Local(cmd, func(ctx context.Context, args []string) error {
		service, err := login.Service(args[0])
		if err != nil {
			return run.Fail(run.Misused, "%w", err)
		}
		answered := r.Slow(service)
		config, err := login.Discover(ctx, r.HTTP, service)
		answered()
		if _, lost := errors.AsType[*url.Error](err); lost && ctx.Err() == nil {
			return &api.UnreachableError{URL: service, Cause: err}
		}
		if err != nil {
			return err
		}
		session, err := signedIn(ctx, r, config, o, *noBrowser)
		if err != nil {
			return err
		}
		name := cmp.Or(r.Profile, hostOf(service))
		before, _, _ := r.Files.Profile("") // without one, this one is the first
		if err := r.Files.Begin(name, login.Profile{URL: service}, session, *makeDefault || r.Profile == ""); err != nil {
			return err
		}
		who, _ := run.Claims(session.Access)
		r.Say("signed in to %s as %s until %s", service, who.Subject, terminal.Clock(session.Ends()))
		switch now, _, err := r.Files.Profile(""); {
		case err != nil:
			return err
		case now != name:
			r.Say("without --profile, commands still go to %s; --default at login changes that", now)
		case before != "" && before != name:
			r.Say("without --profile, commands now go to %s, no longer to %s", now, before)
		}
		return nil
	})
}

func signedIn(ctx context.Context, r *run.Run, c login.Provider, o login.Identity, noBrowser bool) (login.Session, error) {
	switch {
	case o.As != "":
		return login.SignIn(ctx, r.HTTP, c, login.Redirect(login.Ports[0]), o, login.AsNamed(r.HTTP))
	case noBrowser:
		return login.SignIn(ctx, r.HTTP, c, login.Redirect(login.Ports[0]), o, func(_ context.Context, address string) (string, error) {
			fmt.Fprintf(r.Err, "Open this address and sign in:\n\n  %s\n\nThe browser ends at a page that it cannot show. Paste the address of that page here: ", address)
			return r.Typed(), nil
		})
	}
	receiver, err := login.Receive()
	if err != nil {
		return login.Session{}, err
	}
	defer func() { _ = receiver.Close() }() // the login has closed it, as a rule
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	return login.SignIn(ctx, r.HTTP, c, receiver.Redirect, o, receiver.Browse(func(address string) error {
		fmt.Fprintf(r.Err, "Sign in with the browser. If none opens, open this address:\n\n  %s\n\n", address)
		_ = r.Open(ctx, address) // the address is printed
		return nil
	}))
}

func logout(r *run.Run) *cobra.Command {
	return r.Local(&cobra.Command{Use: "logout", Short: "Forget the session", Example: "wavegate logout"}, func(context.Context, []string) error {
		name, _, err := r.Files.Profile(r.Profile)
		if errors.Is(err, login.ErrSignIn) {
			return nil // nobody has signed in
		}
		if err != nil {
			return err
		}
		return r.Files.End(name)
	})
}

func profiles(r *run.Run) *cobra.Command {
	return r.Local(&cobra.Command{Use: "profiles", Short: "List the services that you have signed in to", Example: "wavegate profiles"},
		func(context.Context, []string) error {
			all, current, err := r.Files.Profiles()
			if err != nil {
				return err
			}
			type shown struct {
				Name       string     `json:"name"`
				URL        string     `json:"url"`
				Default    bool       `json:"default"`
				SignedInAs string     `json:"signedInAs,omitempty"`
				Until      *time.Time `json:"until,omitempty"`
			}
			list, rows := []shown{}, []string{terminal.Cells("NAME", "SERVICE", "SIGNED IN AS", "UNTIL")}
			for _, name := range slices.Sorted(maps.Keys(all)) {
				p, until := shown{Name: name, URL: all[name].URL, Default: name == current}, ""
				if s, err := r.Files.Session(name); err == nil {
					who, _ := run.Claims(s.Access)
					p.SignedInAs, p.Until, until = who.Subject, new(s.Ends()), terminal.Clock(s.Ends())
				}
				list = append(list, p)
				if p.Default {
					name += " (default)"
				}
				rows = append(rows, terminal.Cells(name, p.URL, p.SignedInAs, until))
			}
			switch {
			case r.JSON:
				text, err := json.Marshal(list)
				if err == nil {
					r.Show(text)
				}
				return err
			case len(list) == 0:
				r.Note("wavegate: no service yet; run: wavegate login URL")
				return nil
			}
			return r.Table(rows...)
		})
}

func use(r *run.Run) *cobra.Command {
	return r.Local(&cobra.Command{Use: "use NAME", Short: "Make a profile the default one", Example: "wavegate use api.example.com"},
		func(_ context.Context, args []string) error {
			if err := r.Files.Use(args[0]); err != nil {
				return err
			}
			r.Say("without --profile, commands now go to %s", args[0])
			return nil
		})
}

// hostOf is the default name of a profile.
func hostOf(service string) string {
	u, err := url.Parse(service)
	if err != nil || u.Host == "" {
		return "default"
	}
	return u.Host
}
