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

// A Terminal is the input and output of the command.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	// Asks is set if there is a person to ask, and Draws if Out can be redrawn.
	Asks, Draws bool
	// Raw delivers keys as they are pressed, until restore is called.
	Raw func() (restore func(), err error)
	// Size returns the columns and rows of Out.
	Size func() (columns, rows int)
}

// standard is the terminal of the process.
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

// columns is the width to print to; 0 means unlimited, because Out is not a terminal.
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

// colours reports whether to colour text.
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

// say reports what was done.
func (a *app) say(format string, args ...any) {
	if !a.quiet && !a.json {
		fmt.Fprintln(a.Out, printable(fmt.Sprintf(format, args...)))
	}
}

// note writes a message for people to standard error.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.Err, printable(fmt.Sprintf(format, args...)))
	}
}

// show prints a document of the service unchanged.
func (a *app) show(document []byte) { fmt.Fprintf(a.Out, "%s\n", document) }

// showDocument prints a document that the command composed.
func (a *app) showDocument(v any) error {
	text, err := written(v)
	if err == nil {
		a.show(text)
	}
	return err
}

// written encodes a document on one line, with readable addresses.
func written(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// table prints rows of tab-separated cells.
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

// printable removes terminal control characters from a text. Some texts come from boxes.
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

// askName asks to type a name, for changes that affect many boxes. Without a person to ask, --confirm must give it.
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
	fmt.Fprintf(a.Err, "%s\nType %s to continue: ", printable(question), name)
	if a.line() == name {
		return nil
	}
	return fail(Misused, "not confirmed; nothing was done")
}

// where is the beginning of every question: the service and the person.
func (a *app) where() string {
	if a.service == nil {
		return "" // nobody is signed in: the command runs on the box
	}
	who, _, ok := a.person()
	if !ok {
		return "At " + a.service.URL + ": " // the call itself reports what is wrong
	}
	return "At " + a.service.URL + " as " + who.Subject + ": "
}

// line reads a line that a person types.
func (a *app) line() string {
	text, _ := bufio.NewReader(a.In).ReadString('\n') // empty at the end of input, which confirms nothing
	return strings.TrimSpace(text)
}

// A shared writer is safe for concurrent use.
type shared struct {
	mu sync.Mutex
	to io.Writer
}

func (s *shared) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Write(text)
}

// patient is how long a call may take before the command says that it is waiting.
const patient = 3 * time.Second

// slow reports that the service has not answered soon; answered cancels that.
func (a *app) slow(service string) (answered func()) {
	return a.After(patient, func() {
		fmt.Fprintf(a.Err, "wavegate: %s has not answered for %s; still waiting (Ctrl-C to stop)\n", service, length(patient))
	})
}

// again reports why a call is repeated, each reason only once.
func (a *app) again(why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if text := why.Error(); text != a.failed {
		a.failed = text
		fmt.Fprintf(a.Err, "wavegate: %s\nwavegate: trying again\n", printable(text))
	}
}
