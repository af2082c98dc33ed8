package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
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
	// Size is how many columns and rows Out has.
	Size func() (columns, rows int)
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
		Size: func() (int, int) {
			columns, rows, err := term.GetSize(out)
			if err != nil || columns < 1 || rows < 1 {
				return 80, 24
			}
			return columns, rows
		},
	}
}

// columns is how wide what is printed may be; 0: as wide as it is, as nobody reads it on a terminal.
func (a *app) columns() int {
	if !a.Draws {
		return 0
	}
	columns, _ := a.Size()
	return columns
}

// showLines prints lines, within the terminal's columns.
func (a *app) showLines(lines []line) {
	for _, l := range wrapped(lines, a.columns()) {
		fmt.Fprintln(a.Out, l.drawn(a.colours()))
	}
}

// colours reports whether text may be coloured.
func (a *app) colours() bool { return a.Draws && !a.noColor && !a.plain }

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

// showDocument prints one document that the command makes of the service's.
func (a *app) showDocument(v any) error {
	text, err := written(v)
	if err == nil {
		a.show(text)
	}
	return err
}

// written is a document on one line. Addresses in it stay readable.
func written(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

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
	question = a.where() + question
	if !a.Asks {
		return fail(Misused, "%s Not confirmed: add --yes", question)
	}
	fmt.Fprintf(a.Err, "%s [y/N] ", printable(question))
	if answer := a.line(); strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes") {
		return nil
	}
	return fail(Misused, "not confirmed; nothing was done")
}

// askName asks to type a name, for what reaches far. Without a person to ask, only --confirm is one.
func (a *app) askName(name, question string) error {
	question = a.where() + question
	switch {
	case a.confirm == name:
		return nil
	case a.confirm != "":
		return fail(Misused, "--confirm names %q; this is about %q. Nothing was done", a.confirm, name)
	case !a.Asks:
		return fail(Misused, "%s Not confirmed: add --confirm %s", question, name)
	}
	fmt.Fprintf(a.Err, "%s\nType %s to go on: ", printable(question), name)
	if a.line() == name {
		return nil
	}
	return fail(Misused, "not confirmed; nothing was done")
}

// where names the service and the person, as every question begins.
func (a *app) where() string {
	if a.service == nil {
		return "" // nobody is signed in; the box itself calls
	}
	who, _, ok := a.person()
	if !ok {
		return "At " + a.service.URL + ": " // the call itself says what is wrong
	}
	return "At " + a.service.URL + " as " + who.Subject + ": "
}

// line reads what a person types.
func (a *app) line() string {
	text, _ := bufio.NewReader(a.In).ReadString('\n') // at the end of input it is empty, which confirms nothing
	return strings.TrimSpace(text)
}

// A shared writer may be written to by several at a time.
type shared struct {
	mu sync.Mutex
	to io.Writer
}

func (s *shared) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Write(text)
}

// patient is how long a call may take before a person is told that it does.
const patient = 3 * time.Second

// slow tells a person if the service does not answer soon, until it has.
func (a *app) slow(service string) (answered func()) {
	return a.After(patient, func() {
		fmt.Fprintf(a.Err, "wavegate: %s has not answered for %s; waiting for it (Ctrl-C ends that)\n", service, length(patient))
	})
}

// again tells a person why a call is made again, a reason only once.
func (a *app) again(why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if text := why.Error(); text != a.failed {
		a.failed = text
		fmt.Fprintf(a.Err, "wavegate: %s\nwavegate: trying again\n", printable(text))
	}
}
