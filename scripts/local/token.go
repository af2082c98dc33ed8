package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
)

const tokenUsage = `usage: scripts/token --user U [--org O] [--role R]... [--ttl 1h]

  --user U   the caller: a name, or for a box its edge id
  --org O    the organization that the caller belongs to
  --role R   %s; can be repeated; edge and program cannot be combined with others
  --ttl T    how long the token is valid, for example 90s, 15m or 12h; by default 1h,
             at most 24h, and for a box 720h

Prints only the token.
`

// printToken prints an access token for the local service; see scripts/token. It returns the exit code: 0, 1 if there
// are no keys, 2 for wrong arguments.
func printToken(args []string, out, problems io.Writer) int {
	var c devissuer.Claims
	flags := flag.NewFlagSet("token", flag.ContinueOnError)
	flags.SetOutput(problems)
	flags.Usage = func() { _, _ = fmt.Fprintf(problems, tokenUsage, roles()) }
	flags.StringVar(&c.User, "user", "", "")
	flags.StringVar(&c.Organization, "org", "", "")
	flags.DurationVar(&c.TTL, "ttl", time.Hour, "")
	flags.Func("role", "", func(role string) error { c.Roles = append(c.Roles, role); return nil })
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	wrong := func(reason string) int {
		_, _ = fmt.Fprintln(problems, reason)
		flags.Usage()
		return 2
	}
	switch {
	case flags.NArg() > 0:
		return wrong("not an option: " + flags.Arg(0))
	case c.User == "":
		return wrong("--user is missing")
	case c.TTL <= 0:
		return wrong("--ttl must be more than 0")
	}
	issuers, err := devissuer.Load("")
	if err != nil {
		_, _ = fmt.Fprintln(problems, err)
		return 1
	}
	token, err := issuers.Token(c)
	if err != nil {
		return wrong(err.Error())
	}
	_, _ = fmt.Fprintln(out, token)
	return 0
}

func roles() string {
	names := make([]string, len(auth.Roles))
	for i, r := range auth.Roles {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}
