package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/artifact"
)

const artifactPath = "/api/ota/artifacts/%s/%s"

// A wanted is the answer to somebody who asked for an upload; without one, the bytes are there.
type wanted struct {
	artifact.Artifact
	Upload *artifact.Upload `json:"upload"`
}

// tries is how often a file is sent, if the store does not answer as it should.
const tries = 3

// request asks for an upload.
func (f File) request(edgeType string) (api.Request, error) {
	body := map[string]any{"filename": f.name()}
	f.Describe(body)
	delete(body, "sha256") // it is in the path
	r := api.Request{Method: http.MethodPut, Path: api.Path(artifactPath, edgeType, f.SHA256), Body: body}
	if f.Size > artifact.Most {
		return r, run.Fail(run.Refused, "%s has %s, and the service keeps files of at most %s. Store it elsewhere, and publish it with --url",
			f.Path, Bytes(f.Size), Bytes(artifact.Most))
	}
	return r, run.Acceptable(r.Method, r.Path, body)
}

// Acceptable checks by the service's own rules whether it would keep the file, so that nobody is asked in vain.
func (f File) Acceptable(edgeType string) error {
	_, err := f.request(edgeType)
	return err
}

// Keep makes the service keep a file: it sends the file to the store, unless it is there.
func Keep(ctx context.Context, c *run.Call, edgeType string, f File) error {
	request, err := f.request(edgeType)
	for try := 1; err == nil; try++ {
		var answer api.Response
		var w wanted
		if answer, err = c.Do(ctx, request); err == nil {
			err = answer.Into(&w)
		}
		switch {
		case err != nil:
			return err
		case w.Upload == nil:
			c.Say("the service has %s already", f.name())
			return nil
		}
		again, failed := f.send(ctx, c.Run, *w.Upload)
		if failed == nil {
			break
		}
		if !again || try == tries || ctx.Err() != nil {
			return failed
		}
		c.Again(failed)
	}
	if err != nil {
		return err
	}
	_, err = c.Patiently().Do(ctx, api.Request{Method: http.MethodPatch, Path: request.Path, Body: map[string]any{"state": artifact.Kept}})
	if err == nil {
		c.Say("%s is uploaded, %s", f.name(), Bytes(f.Size))
	}
	return err
}

// storeCode is what a store of S3's kind says of a refusal.
var storeCode = regexp.MustCompile(`<Code>([A-Za-z]+)</Code>`)

// send sends the file to the store. again is set if another try may succeed.
func (f File) send(ctx context.Context, r *run.Run, to artifact.Upload) (again bool, err error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	p := &progress{run: r, from: file, name: f.name(), total: f.Size}
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, to.URL, p)
	if err != nil {
		return false, err
	}
	request.ContentLength = f.Size
	request.Header.Set("Expect", "100-continue") // a store that refuses it does not get it first
	for name, value := range to.Headers {
		request.Header.Set(name, value)
	}
	res, err := outside(r).Do(request)
	p.end()
	if err != nil {
		return true, fmt.Errorf("the store of %s cannot be reached: %w", r.Service(), cause(err))
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<16)) // a part is enough
	code := ""
	if found := storeCode.FindSubmatch(text); found != nil {
		code = " " + string(found[1])
	}
	switch {
	case res.StatusCode/100 == 2, res.StatusCode == http.StatusPreconditionFailed: // somebody else has sent the same bytes
		return false, nil
	case res.StatusCode == http.StatusBadRequest:
		return false, run.Fail(run.Refused, "the store refuses %s (400%s): the file has changed since it was read", f.Path, code)
	}
	return true, run.Fail(run.Refused, "the store answers %d%s to the upload", res.StatusCode, code)
}

// outside is the client for other hosts than the service. It follows redirects, because it sends no token.
func outside(r *run.Run) *http.Client { return &http.Client{Transport: r.HTTP.Transport} }

// cause is an error without the URL, which is a secret and long.
func cause(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// A progress shows on a terminal how much of a file was sent.
type progress struct {
	run         *run.Run
	from        io.Reader
	name        string
	done, total int64
	drawn       time.Time
}

// redraw is the time between two states that are shown.
const redraw = 100 * time.Millisecond

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.from.Read(b)
	p.done += int64(n)
	if r := p.run; r.Draws && !r.Plain && !r.Quiet && !r.JSON && time.Since(p.drawn) >= redraw {
		p.drawn = time.Now()
		fmt.Fprint(r.Err, "\r\x1b[2K"+bar(p.name, p.done, p.total, r.Columns()))
	}
	return n, err
}

// end removes what was shown.
func (p *progress) end() {
	if !p.drawn.IsZero() {
		fmt.Fprint(p.run.Err, "\r\x1b[2K")
	}
}

// bar is a line that shows how much of something is done.
func bar(name string, done, total int64, columns int) string {
	const least = 10
	says := fmt.Sprintf(" %3d %%  %s of %s", 100*done/max(total, 1), Bytes(done), Bytes(total))
	room := columns - 1 - len(says) - len(" []")
	if name = name[:min(len(name), max(room-least, 0))]; room-len(name) < least {
		return strings.TrimSpace(says)
	}
	room -= len(name)
	full := int(int64(room) * done / max(total, 1))
	return name + " [" + strings.Repeat("#", full) + strings.Repeat(".", room-full) + "]" + says
}
