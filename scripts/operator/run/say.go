package run

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/terminal"
)

// Colours reports whether to colour text.
func (r *Run) Colours() bool { return r.Draws && !r.noColor && !r.Plain }

// ShowLines prints lines, within the terminal's columns.
func (r *Run) ShowLines(lines []terminal.Line) {
	for _, l := range terminal.Wrapped(lines, r.Columns()) {
		fmt.Fprintln(r.Out, l.Drawn(r.Colours()))
	}
}

// Tell prints a sentence, within the terminal's columns.
func (r *Run) Tell(format string, args ...any) {
	r.ShowLines([]terminal.Line{{Text: fmt.Sprintf(format, args...)}})
}

// Say reports what was done.
func (r *Run) Say(format string, args ...any) {
	if !r.Quiet && !r.JSON {
		fmt.Fprintln(r.Out, terminal.Printable(fmt.Sprintf(format, args...)))
	}
}

// Note writes a message for people to standard error.
func (r *Run) Note(format string, args ...any) {
	if !r.Quiet {
		fmt.Fprintln(r.Err, terminal.Printable(fmt.Sprintf(format, args...)))
	}
}

// Show prints a document of the service unchanged.
func (r *Run) Show(document []byte) { fmt.Fprintf(r.Out, "%s\n", document) }

// ShowDocument prints a document that the command composed.
func (r *Run) ShowDocument(v any) error {
	text, err := Written(v)
	if err == nil {
		r.Show(text)
	}
	return err
}

// Written encodes a document on one line, with readable addresses.
func Written(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// Either prints the service's answer with --json, and otherwise calls tell.
func (r *Run) Either(answer api.Response, tell func() error) error {
	if r.JSON {
		r.Show(answer.Body)
		return nil
	}
	return tell()
}

// Done reports what was done, and prints the present state of the resource with --json.
func (c *Call) Done(ctx context.Context, path, format string, args ...any) error {
	c.Say(format, args...)
	return c.Shown(ctx, path)
}

// Shown prints the present state of a resource with --json.
func (c *Call) Shown(ctx context.Context, path string) error {
	if !c.JSON {
		return nil
	}
	answer, err := c.Get(ctx, path)
	if err == nil {
		c.Show(answer.Body)
	}
	return err
}

// BadLines lists lines with errors, up to a limit.
func (r *Run) BadLines(bad []string, then string) error {
	const most = 100
	for _, line := range bad[:min(len(bad), most)] {
		fmt.Fprintln(r.Err, terminal.Printable(line))
	}
	if len(bad) > most {
		fmt.Fprintf(r.Err, "and %d more\n", len(bad)-most)
	}
	return Fail(Refused, "%d %s errors; %s", len(bad), terminal.Noun(len(bad), "line has", "lines have"), then)
}

// Ask asks yes or no. Without a person to ask, only --yes is a yes.
func (r *Run) Ask(question string) error {
	if r.yes || r.unable != nil {
		return r.unable
	}
	question = r.where() + question
	if !r.Asks {
		return Fail(Misused, "%s Not confirmed: add --yes", question)
	}
	fmt.Fprintf(r.Err, "%s [y/N] ", terminal.Printable(question))
	if answer := r.Typed(); strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes") {
		return nil
	}
	return errUnconfirmed
}

var errUnconfirmed = Fail(Misused, "not confirmed; nothing was done")

// AskName asks to type a name, for changes that affect many boxes. Without a person to ask, --confirm must give it.
// With an empty name, it asks yes or no.
func (r *Run) AskName(name, question string) error {
	if name == "" {
		return r.Ask(question)
	}
	question = r.where() + question
	switch {
	case r.Confirm == name || r.unable != nil:
		return r.unable
	case r.Confirm != "":
		return Fail(Misused, "--confirm names %q; this is about %q. Nothing was done", r.Confirm, name)
	case !r.Asks:
		return Fail(Misused, "%s Not confirmed: add --confirm %s", question, name)
	}
	fmt.Fprintf(r.Err, "%s\nType %s to continue: ", terminal.Printable(question), name)
	if r.Typed() == name {
		return nil
	}
	return errUnconfirmed
}

// where is the beginning of every question: the service and the person.
func (r *Run) where() string {
	if r.service == nil {
		return "" // nobody is signed in: the command runs on the box
	}
	who, _, ok := r.Person()
	if !ok {
		return "At " + r.service.URL + ": " // the call itself reports what is wrong
	}
	return "At " + r.service.URL + " as " + who.Subject + ": "
}

// A Token has the claims of an access token that the command displays. Only the service verifies it.
type Token struct {
	Subject string   `json:"sub"`
	Roles   []string `json:"roles"`
	Expires int64    `json:"exp"`
}

// Claims reads an access token.
func Claims(raw string) (t Token, ok bool) {
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

// Person returns who is signed in, and until when, by the stored token. It makes no call.
func (r *Run) Person() (who Token, until time.Time, ok bool) {
	raw := r.Getenv("WAVEGATE_TOKEN")
	if raw == "" {
		name, _, err := r.Files.Profile(r.Profile)
		if err != nil {
			return who, until, false
		}
		s, err := r.Files.Session(name)
		if err != nil {
			return who, until, false
		}
		raw, until = s.Access, s.Ends()
	}
	if who, ok = Claims(raw); until.IsZero() {
		until = time.Unix(who.Expires, 0)
	}
	return who, until, ok
}

// Patient is how long a call may take before the command says that it is waiting.
const Patient = 3 * time.Second

// Slow reports that the service has not answered soon; answered cancels that.
func (r *Run) Slow(service string) (answered func()) {
	return r.After(Patient, func() {
		fmt.Fprintf(r.Err, "wavegate: %s has not answered for %s; still waiting (Ctrl-C to stop)\n", service, terminal.Length(Patient))
	})
}

// Again reports why a call is repeated, each reason only once.
func (r *Run) Again(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text := why.Error(); text != r.failed {
		r.failed = text
		fmt.Fprintf(r.Err, "wavegate: %s\nwavegate: trying again\n", terminal.Printable(text))
	}
}
