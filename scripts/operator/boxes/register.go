package boxes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/edge"
)

// atOnce is the number of boxes per call.
const atOnce = 30

func register(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "register FILE", Short: "Register the boxes of a file, of any length",
		Long: "Registers the boxes of a file, or moves them. The first line of the file names its columns: edgeId, edgeType, channel, " +
			"organizationId, and optionally factoryId, issuer and attributes, such as \"board=C; modem=LTE\". It is what wavegate boxes --csv " +
			"prints, with commas, semicolons or tabs, or a box in JSON on each line. An empty cell keeps what " +
			"the box has. All bad lines are listed before anything is sent. If the command " +
			"is interrupted, run it again: it continues where it stopped. Boxes that are already registered this way stay " +
			"unchanged.\n\n" +
			"With --make-tokens, each box gets a token of its own. " + tokenFiles + " " +
			"Only the hash of a token is sent. An existing file is used, so that the command can be repeated. If a box has a token " +
			"but its file is missing, its line is bad; see wavegate tokens renew.",
		Example: "wavegate register boxes.csv\nwavegate register boxes.csv --make-tokens tokens",
	}
	dir := cmd.Flags().String("make-tokens", "", "give each box a token of its own, with a file in the `directory`")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) (err error) {
		name := c.Args[0]
		c.Patiently()
		var tokens *newTokens
		if *dir != "" {
			if tokens, err = tokensIn(c.Run, *dir); err != nil {
				return err
			}
		}
		channels := map[string]int{}
		f, err := readBoxes(name, func(b boxLine) error {
			channels[b.fields["edgeType"]+"/"+b.fields["channel"]]++
			tokens.look(fmt.Sprintf("line %d", b.line), b)
			return nil
		})
		if err == nil && len(f.bad) == 0 {
			f.bad, err = tokens.faults(ctx, c)
		}
		switch {
		case err != nil:
			return err
		case len(f.bad) > 0:
			return c.BadLines(f.bad, "nothing was sent")
		case f.boxes == 0:
			return run.Fail(run.Misused, "%s lists no boxes", name)
		}
		for _, twin := range f.twins {
			c.Note("wavegate: %s", twin)
		}
		s := recall(c, f, tokens)
		if s.Line > 0 {
			c.Note("wavegate: continuing after line %d of %s", s.Line, name)
		} else if err := c.Ask(fmt.Sprintf("Register %s: %s%s?", terminal.Boxes(f.boxes), counted(channels, 5, "on", "channel"), tokens.with())); err != nil {
			return err
		}
		if err := tokens.prepare(); err != nil {
			return err
		}
		return s.send(ctx, name)
	})
}

// counted lists the channels or versions with the most boxes; verb says what the boxes do there.
func counted(boxes map[string]int, most int, verb, noun string) string {
	var list []string
	for i, name := range terminal.ByCount(boxes) {
		if i == most {
			list = append(list, fmt.Sprintf("and %d more %s", len(boxes)-i, terminal.Noun(len(boxes)-i, noun, noun+"s")))
			break
		}
		list = append(list, fmt.Sprintf("%d %s %s", boxes[name], verb, name))
	}
	return strings.Join(list, ", ")
}

// A sending records how far a file was sent. It is kept between runs until the file is done.
type sending struct {
	*run.Call
	progress
	file   boxFile
	tokens *newTokens
	kept   string // empty: nowhere
}

// A progress is what is kept of a sending.
type progress struct {
	Line  int              `json:"line"` // the last that was acknowledged
	Boxes int              `json:"boxes"`
	Tally edge.BatchCounts `json:"tally"`
	Bad   []string         `json:"bad"`
}

// recall recalls how far a file with these bytes was sent to the service. With tokens it starts over, so that each
// box has the token of its file.
func recall(c *run.Call, f boxFile, tokens *newTokens) *sending {
	s := &sending{}
	if tokens == nil {
		s.kept = "register-" + f.hash[:32] + "-" + url.QueryEscape(c.URL) + ".json"
		if c.Cached().Read(s.kept, &s.progress) != nil {
			s.progress = progress{} // it starts over, which changes nothing twice
		}
	}
	s.Call, s.file, s.tokens = c, f, tokens
	return s
}

func (s *sending) send(ctx context.Context, name string) error {
	var batch []boxLine
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := s.tokens.give(batch); err != nil {
			return err
		}
		if err := s.one(ctx, batch); err != nil {
			return err
		}
		s.Line, s.Boxes = batch[len(batch)-1].line, s.Boxes+len(batch)
		batch = batch[:0]
		if s.kept != "" {
			_ = s.Cached().Write(s.kept, s.progress) // without it, the file is sent again from its start
		}
		s.draw()
		return nil
	}
	again, err := readBoxes(name, func(b boxLine) error {
		if b.line <= s.Line {
			return nil
		}
		if batch = append(batch, b); len(batch) < atOnce {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil && again.hash != s.file.hash {
		err = run.Fail(run.Refused, "%s changed while it was sent; run the command again", name)
	}
	s.redraw("")
	if err != nil {
		s.Note("wavegate: %d of %d boxes were sent; run the command again to continue", s.Boxes, s.file.boxes)
		return err
	}
	if s.kept != "" {
		_ = os.Remove(filepath.Join(s.Cache, s.kept)) // otherwise the next run would begin at the end
	}
	if s.JSON {
		if err := s.ShowDocument(s.Tally); err != nil {
			return err
		}
	}
	s.Say("%s registered, %d moved or changed, %d unchanged", terminal.Boxes(s.Tally.Registered), s.Tally.Reassigned, s.Tally.Unchanged)
	if n := s.tokens; n != nil {
		s.Say("%d %s made; all are in %s", n.made, terminal.Noun(n.made, "token was", "tokens were"), n.dir.Path)
	}
	if len(s.Bad) > 0 {
		return s.BadLines(s.Bad, "all others were sent")
	}
	return nil
}

// one sends a batch. If the service finds errors in boxes, these boxes are noted, and the others are sent again.
func (s *sending) one(ctx context.Context, batch []boxLine) error {
	batch = slices.Clone(batch)
	for len(batch) > 0 {
		list := make([]map[string]any, len(batch))
		for i, b := range batch {
			list[i] = b.body()
		}
		answer, err := s.Do(ctx, api.Request{Method: http.MethodPost, Path: "/api/edges", Body: map[string]any{"edges": list}, Key: uuid.NewString()})
		if err == nil {
			var t edge.BatchCounts
			err = answer.Into(&t)
			s.Tally.Registered += t.Registered
			s.Tally.Reassigned += t.Reassigned
			s.Tally.Unchanged += t.Unchanged
			return err
		}
		refused, ok := errors.AsType[*api.RefusedError](err)
		if !ok {
			return err
		}
		bad := map[int]bool{}
		for _, f := range refused.Errors {
			if i, field, ok := place(f.Pointer); ok && i < len(batch) {
				bad[i] = true
				s.Bad = append(s.Bad, fmt.Sprintf("%s: %s %s", batch[i].place(), field, f.Detail))
			}
		}
		if len(bad) == 0 {
			return err // it is not about single boxes
		}
		var rest []boxLine
		for i, b := range batch {
			if !bad[i] {
				rest = append(rest, b)
			}
		}
		batch = rest
	}
	return nil
}

// place parses a pointer such as /edges/3/channel.
func place(pointer string) (i int, field string, ok bool) {
	index, field, found := strings.Cut(strings.TrimPrefix(pointer, "/edges/"), "/")
	i, err := strconv.Atoi(index)
	return i, field, err == nil && i >= 0 && found
}

// draw shows the progress: a bar that is redrawn, or without a terminal a line for each tenth.
func (s *sending) draw() {
	const width = 30
	n := s.Boxes * width / s.file.boxes
	bar := fmt.Sprintf("[%s%s] %d of %d boxes, %d with errors", strings.Repeat("#", n), strings.Repeat(".", width-n), s.Boxes, s.file.boxes, len(s.Bad))
	switch {
	case s.Quiet:
	case s.Asks && !s.Plain:
		s.redraw(bar)
	case s.Boxes*10/s.file.boxes != max(0, s.Boxes-atOnce)*10/s.file.boxes:
		fmt.Fprintf(s.Err, "%d of %d boxes\n", s.Boxes, s.file.boxes)
	}
}

// redraw replaces the current line if there is a terminal.
func (s *sending) redraw(text string) {
	if s.Asks && !s.Plain && !s.Quiet {
		fmt.Fprintf(s.Err, "\r\x1b[K%s", text)
	}
}
