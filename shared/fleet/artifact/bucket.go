package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"wavegate/shared/platform/credentials"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/platform/telemetry"
)

// A Bucket is the store of the bytes, which speaks S3's protocol. The signer of the SDK is enough for its few calls; the
// module for S3 would make each function larger than the rest of it.
type Bucket struct {
	store, downloads string // URLs without a slash at the end; empty: there is none
	signer           *v4.Signer
	client           *http.Client
	now              func() time.Time
	metrics          io.Writer
}

// Failed is the metric of a call that the bucket did not answer as it should.
const Failed = "ArtifactStoreFailed"

// Settings are those of ReadBucket.
var Settings = []setting.Name{setting.ArtifactStoreURL, setting.ArtifactURL}

// ReadBucket makes the bucket that the settings name.
func ReadBucket(r *setting.Values, now func() time.Time, metrics io.Writer) *Bucket {
	b := &Bucket{store: address(r, setting.ArtifactStoreURL), downloads: address(r, setting.ArtifactURL), now: now, metrics: metrics,
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), client: &http.Client{Timeout: 5 * time.Second}}
	if (b.store == "") != (b.downloads == "") {
		r.Fault("%s and %s must be set together", setting.ArtifactStoreURL, setting.ArtifactURL)
	}
	return b
}

// address reads the URL of a setting.
func address(r *setting.Values, name setting.Name) string {
	text := strings.TrimSuffix(r.Text(name), "/")
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		r.Fault("%s must be only scheme, host and path", name)
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme != "https" && (u.Scheme != "http" || ip == nil || !ip.IsLoopback()) {
		r.Fault("%s must use https", name)
		return ""
	}
	return text
}

// check returns UNAVAILABLE if there is no bucket.
func (b *Bucket) check() error {
	if b.store == "" {
		return problem.New(problem.Unavailable, "No store of artifacts is set up here. Publish with an artifactUrl.").After(time.Minute)
	}
	return nil
}

// An Upload is how the bytes come to the bucket: one PUT with these headers, which takes only bytes with the digest, only
// as many as were said, and only while there are none.
type Upload struct {
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	ExpiresAt time.Time         `json:"expiresAt"` // when it can no longer begin
}

// unsigned is what is signed instead of a body's digest.
const unsigned = "UNSIGNED-PAYLOAD"

// Sign signs an upload.
func (b *Bucket) Sign(ctx context.Context, r Row) (*Upload, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, b.store+"/"+r.Object(), nil)
	if err != nil {
		return nil, err
	}
	now := b.now()
	headers := map[string]string{"x-amz-checksum-sha256": checksum(r), "if-none-match": "*"}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	req.ContentLength = r.SizeBytes
	req.URL.RawQuery = "X-Amz-Expires=" + strconv.Itoa(int(uploads/time.Second))
	own, err := credentials.FromEnvironment().Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	signed, _, err := b.signer.PresignHTTP(ctx, own, req, unsigned, "s3", os.Getenv("AWS_REGION"), now)
	return &Upload{URL: signed, Headers: headers, ExpiresAt: now.Add(uploads).Truncate(time.Second)}, err
}

// checksum is the row's digest in S3's form.
func checksum(r Row) string {
	sum, _ := hex.DecodeString(r.name().SHA256)
	return base64.StdEncoding.EncodeToString(sum)
}

// Has reports whether the bucket has the bytes: so many, with the digest. It returns CONFLICT if it has others.
func (b *Bucket) Has(ctx context.Context, r Row) (bool, error) {
	res, err := b.call(ctx, http.MethodHead, r, http.Header{"X-Amz-Checksum-Mode": {"ENABLED"}})
	if err != nil {
		return false, err
	}
	if res.Body.Close(); res.StatusCode == http.StatusNotFound {
		return false, nil
	}
	if length := res.Header.Get("Content-Length"); length != strconv.FormatInt(r.SizeBytes, 10) || res.Header.Get("X-Amz-Checksum-Sha256") != checksum(r) {
		return false, problem.New(problem.Conflict, "The store has other bytes for this artifact: %s, and not %d. Delete it, and upload it again.", length, r.SizeBytes)
	}
	return true, nil
}

// Read copies the bytes from a place on, for as long as the bucket's client lets a call last, and returns how many.
func (b *Bucket) Read(ctx context.Context, r Row, from int64, to io.Writer) (n int64, err error) {
	res, err := b.call(ctx, http.MethodGet, r, http.Header{"Range": {fmt.Sprintf("bytes=%d-", from)}})
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusPartialContent {
		return 0, b.failed(fmt.Errorf("artifact: GET of a range answers %d", res.StatusCode))
	}
	if n, err = io.Copy(to, res.Body); n == 0 && err != nil {
		return 0, b.failed(err)
	}
	return n, nil // what was cut is for the next call
}

// Remove removes the bytes, if they are there.
func (b *Bucket) Remove(ctx context.Context, r Row) error {
	res, err := b.call(ctx, http.MethodDelete, r, nil)
	if err == nil {
		err = res.Body.Close()
	}
	return err
}

// call makes a request about the bytes. It returns UNAVAILABLE unless the bucket answers with a success or 404.
func (b *Bucket) call(ctx context.Context, method string, r Row, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, b.store+"/"+r.Object(), nil)
	if err != nil {
		return nil, err
	}
	empty := hex.EncodeToString(sha256.New().Sum(nil))
	req.Header.Set("X-Amz-Content-Sha256", empty)
	maps.Copy(req.Header, header)
	own, err := credentials.FromEnvironment().Retrieve(ctx)
	if err == nil {
		err = b.signer.SignHTTP(ctx, own, req, empty, "s3", os.Getenv("AWS_REGION"), b.now())
	}
	if err != nil {
		return nil, err
	}
	res, err := b.client.Do(req)
	if err != nil {
		return nil, b.failed(err)
	}
	if res.StatusCode/100 != 2 && res.StatusCode != http.StatusNotFound {
		_ = res.Body.Close()
		return nil, b.failed(fmt.Errorf("artifact: %s answers %d", method, res.StatusCode))
	}
	return res, nil
}

// failed counts a call that the bucket did not answer as it should, and returns UNAVAILABLE.
func (b *Bucket) failed(err error) error {
	telemetry.Emit(b.metrics, b.now(), nil, telemetry.One(Failed))
	return problem.Wrap(err, problem.Unavailable, "The store of artifacts does not answer. Try again later.").After(10 * time.Second)
}
