package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"text/tabwriter"
	"unicode"

	"golang.org/x/term"
)

// A Terminal is where the command reads and writes.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	// Asks tells that there is a person to ask, and Draws that Out can be redrawn.
	Asks, Draws bool
	// Raw has keys come as they are pressed, until the function that it returns is called.
	Raw func() (restore func(), err error)
}

// standard is the process's own.
func standard() Terminal {
	in, out := int(os.Stdin.Fd()), int(os.Stdout.Fd())
	return Terminal{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Asks:  term.IsTerminal(in) && term.IsTerminal(int(os.Stderr.Fd())),
		Draws: term.IsTerminal(out) && term.IsTerminal(in) && os.Getenv("TERM") != "dumb",
		Raw: func() (func(), error) {
			was, err := term.MakeRaw(in)
			return func() { _ = term.Restore(in, was) }, err
		},
	}
}

// browse shows an address in a browser.
func browse(ctx context.Context, address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	return exec.CommandContext(ctx, name, args...).Start()
}

// say tells a person what was done.
func (a *app) say(format string, args ...any) {
	if !a.quiet && !a.json {
		fmt.Fprintln(a.Out, printable(fmt.Sprintf(format, args...)))
	}
}

// note tells a person what goes on, beside what is printed.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.Err, printable(fmt.Sprintf(format, args...)))
	}
}

// show prints a document of the service as it came.
func (a *app) show(document []byte) { fmt.Fprintf(a.Out, "%s\n", document) }

// table prints rows whose cells are divided by tabs.
func (a *app) table(rows ...string) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, row)
	}
	return w.Flush()
}

// cells joins the cells of a row.
func cells(texts ...any) string {
	list := make([]string, len(texts))
	for i, t := range texts {
		list[i] = strings.ReplaceAll(printable(fmt.Sprint(t)), "\n", " ")
	}
	return strings.Join(list, "\t")
}

// printable takes out of a text what would steer the terminal. Some texts are what boxes say.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) {
			return -1
		}
		return c
	}, text)
}

// ask asks yes or no. Without a person to ask, only --yes is a yes.
func (a *app) ask(question string) error {
	if a.yes {
		return nil
	}
	if !a.Asks {
		return fail(Misused, "%s Not confirmed: add --yes", question)
	}
	fmt.Fprintf(a.Err, "%s [y/N] ", question)
	if answer := a.line(); strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes") {
		return nil
	}
	return fail(Misused, "not confirmed; nothing was done")
}

// askName asks to type a name, for what reaches far. Without a person to ask, only --confirm is one.
func (a *app) askName(name, question string) error {
	switch {
	case a.confirm == name:
		return nil
	case a.confirm != "":
		return fail(Misused, "--confirm names %q; this is about %q. Nothing was done", a.confirm, name)
	case !a.Asks:
		return fail(Misused, "%s Not confirmed: add --confirm %s", question, name)
	}
	fmt.Fprintf(a.Err, "%s\nType %s to go on: ", question, name)
	if a.line() == name {
		return nil
	}
	return fail(Misused, "not confirmed; nothing was done")
}

// line reads what a person types.
func (a *app) line() string {
	text, _ := bufio.NewReader(a.In).ReadString('\n') // at the end of input it is empty, which confirms nothing
	return strings.TrimSpace(text)
}
