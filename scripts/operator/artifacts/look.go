package artifacts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"wavegate/scripts/operator/run"
)

// patient is how long a host may take to answer.
const patient = 10 * time.Second

// Look asks the URL of a release once, from this machine, and says what boxes may fail at. size is what its file has; 0: it is
// unknown.
func Look(ctx context.Context, r *run.Run, at string, size int64) {
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	res, err := get(ctx, r, at, "bytes=0-0") // some hosts refuse HEAD
	if err != nil {
		r.Note("wavegate: %s cannot be reached from here: %s", at, cause(err))
		return
	}
	res.Body.Close()
	long := res.ContentLength
	if _, whole, ok := strings.Cut(res.Header.Get("Content-Range"), "/"); ok && res.StatusCode == http.StatusPartialContent {
		if long, err = strconv.ParseInt(whole, 10, 64); err != nil {
			long = -1
		}
	}
	switch {
	case res.StatusCode/100 != 2:
		r.Note("wavegate: %s answers %d from here", at, res.StatusCode)
	case size > 0 && long >= 0 && long != size:
		r.Note("wavegate: what is at %s is %d bytes long, not %d", at, long, size)
	}
}

// Verify downloads what is at a URL, and returns an error unless it has the digest.
func Verify(ctx context.Context, r *run.Run, at, want string) error {
	err := Download(ctx, r, at, want, io.Discard)
	if err == nil {
		r.Say("the bytes at %s are the right ones", at)
	}
	return err
}

// Download copies what is at a URL, and returns an error unless it has the digest.
func Download(ctx context.Context, r *run.Run, at, want string, to io.Writer) error {
	res, err := get(ctx, r, at, "")
	if err != nil {
		return run.Fail(run.Refused, "%s cannot be downloaded: %w", at, cause(err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return run.Fail(run.Refused, "%s answers %d", at, res.StatusCode)
	}
	sum := sha256.New()
	p := &progress{run: r, from: res.Body, name: "download", total: res.ContentLength}
	_, err = io.Copy(io.MultiWriter(sum, to), p)
	p.end()
	if err != nil {
		return run.Fail(run.Refused, "%s cannot be downloaded: %w", at, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); !strings.EqualFold(got, want) {
		return run.Fail(run.Refused, "what is at %s has the SHA-256 %s, not %s", at, got, want)
	}
	return nil
}

func get(ctx context.Context, r *run.Run, at, part string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, fmt.Errorf("it is no URL: %w", err)
	}
	if part != "" {
		request.Header.Set("Range", part)
	}
	return outside(r).Do(request)
}
