// Package terminal is what a person sees and types: texts and tables, within the columns that there are.
package terminal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"text/tabwriter"
	"unicode"

	"golang.org/x/term"
)

// A Terminal is the input and output of the command.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	// Asks is set if there is a person to ask, and Draws if Out can be redrawn.
	Asks, Draws bool
	// Width returns the columns of Out.
	Width func() int
}

// Standard is the terminal of the process.
func Standard() Terminal {
	in, out := int(os.Stdin.Fd()), int(os.Stdout.Fd())
	return Terminal{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Asks:  term.IsTerminal(in) && term.IsTerminal(int(os.Stderr.Fd())),
		Draws: term.IsTerminal(out) && term.IsTerminal(in) && os.Getenv("TERM") != "dumb",
		Width: func() int {
			columns, _, err := term.GetSize(out)
			if err != nil || columns < 1 {
				return 80
			}
			return columns
		},
	}
}

// Columns is the width to print to: the terminal's, or 80 if Out is not one.
func (t Terminal) Columns() int {
	if !t.Draws {
		return 80
	}
	return t.Width()
}

// Typed reads a line that a person types. It is empty at the end of input, which confirms nothing.
func (t Terminal) Typed() string {
	text, _ := bufio.NewReader(t.In).ReadString('\n')
	return strings.TrimSpace(text)
}

// Table prints rows of cells; see Cells.
func (t Terminal) Table(rows ...string) error {
	w := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, row)
	}
	return w.Flush()
}

// Cells makes a row of a table.
func Cells(texts ...any) string {
	list := make([]string, len(texts))
	for i, t := range texts {
		list[i] = strings.ReplaceAll(Printable(fmt.Sprint(t)), "\n", " ")
	}
	return strings.Join(list, "\t")
}

// Printable removes terminal control characters from a text. Some texts come from boxes.
func Printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) {
			return -1
		}
		return c
	}, text)
}

// Browse shows an address in a browser.
func Browse(ctx context.Context, address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	return exec.CommandContext(ctx, name, args...).Start()
}

// A Shared writer is safe for concurrent use.
type Shared struct {
	mu sync.Mutex
	To io.Writer
}

func (s *Shared) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.To.Write(text)
}
