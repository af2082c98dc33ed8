package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/setting"
)

// uploads asks the emulator's S3 what the service relies on: it takes the bytes that an upload was signed for, once, and refuses
// all others.
func uploads(ctx context.Context, c *cloud) error {
	const name = "rehearsal-artifacts"
	if err := c.bucket(ctx, name); err != nil {
		return err
	}
	for _, pair := range append(c.environment(), "ARTIFACT_STORE_URL="+c.endpoint+"/"+name, "ARTIFACT_URL="+c.endpoint+"/"+name) {
		variable, value, _ := strings.Cut(pair, "=")
		if err := os.Setenv(variable, value); err != nil {
			return err
		}
	}
	r := setting.NewValues(artifact.Settings...)
	store := artifact.ReadBucket(r, time.Now, io.Discard)
	earlier := artifact.ReadBucket(r, func() time.Time { return time.Now().Add(-2 * time.Hour) }, io.Discard)
	if err := r.Err(); err != nil {
		return err
	}
	image := []byte("the bytes of a release")
	row := artifact.Row{ID: fmt.Sprintf("gateway-x/%x", sha256.Sum256(image)), Key: "abcdefghijklmnopqrstuvwxyz", Filename: "image.swu",
		Details: release.Details{SizeBytes: int64(len(image))}}
	// Has tells an object that is not there from one that may not be read, and compares length and digest.
	there := func(want bool) error {
		has, err := store.Has(ctx, row)
		if err == nil && has != want {
			err = fmt.Errorf("the bytes are there: %t", has)
		}
		return err
	}
	if err := there(false); err != nil {
		return err
	}
	signed, err := store.Sign(ctx, row)
	if err != nil {
		return err
	}
	old, err := earlier.Sign(ctx, row)
	if err != nil {
		return err
	}
	wrong := []byte("the bytes of a rascal!")
	without := func(header string) map[string]string { return map[string]string{header: ""} }
	for _, q := range []struct {
		what    string
		url     string
		body    []byte
		headers map[string]string // instead of the signed ones; empty: none
		status  int
	}{
		{"other bytes", signed.URL, wrong, nil, http.StatusBadRequest},
		{"no digest", signed.URL, image, without("x-amz-checksum-sha256"), http.StatusForbidden},
		{"another digest", signed.URL, wrong, map[string]string{"x-amz-checksum-sha256": checksum(wrong)}, http.StatusForbidden},
		{"another length", signed.URL, image[1:], nil, http.StatusForbidden},
		{"no condition", signed.URL, image, without("if-none-match"), http.StatusForbidden},
		{"a forged signature", strings.Replace(signed.URL, "X-Amz-Signature=", "X-Amz-Signature=0", 1), image, nil, http.StatusForbidden},
		{"an expired URL", old.URL, image, nil, http.StatusForbidden},
		{"the bytes", signed.URL, image, nil, http.StatusOK},
		{"the bytes again", signed.URL, image, nil, http.StatusPreconditionFailed},
	} {
		status, err := put(ctx, q.url, q.body, signed.Headers, q.headers)
		if err == nil && status != q.status {
			err = fmt.Errorf("it answers %d, want %d", status, q.status)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", q.what, err)
		}
	}
	var from4 bytes.Buffer
	if _, err := store.Read(ctx, row, 4, &from4); err != nil || from4.String() != string(image[4:]) {
		return fmt.Errorf("the bytes from the fifth on are read as %q: %w", &from4, err)
	}
	return errors.Join(there(true), store.Remove(ctx, row), there(false), store.Remove(ctx, row))
}

// checksum is the digest of bytes in S3's form.
func checksum(of []byte) string {
	sum := sha256.Sum256(of)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// put makes an upload, with some headers replaced.
func put(ctx context.Context, url string, body []byte, headers, instead map[string]string) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, value := range headers {
		if other, is := instead[name]; is {
			value = other
		}
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

// bucket makes a bucket.
func (c *cloud) bucket(ctx context.Context, name string) error {
	where := []byte("<CreateBucketConfiguration><LocationConstraint>" + region + "</LocationConstraint></CreateBucketConfiguration>")
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, c.endpoint+"/"+name, bytes.NewReader(where))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(where)
	digest := hex.EncodeToString(sum[:])
	r.Header.Set("X-Amz-Content-Sha256", digest)
	if err := v4.NewSigner().SignHTTP(ctx, credentials, r, digest, "s3", region, time.Now()); err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("S3 answers %d to a new bucket", answer.StatusCode)
	}
	return errors.Join(err, answer.Body.Close())
}
