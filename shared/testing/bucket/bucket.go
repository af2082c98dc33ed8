// Package bucket answers as S3 and the cache before it answer for artifacts: it takes signed uploads, answers the service's
// signed questions, and lets anyone download who has the URL. The bytes are files in a folder.
package bucket

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// A Bucket is an http.Handler.
type Bucket struct {
	Folder string
	Secret string // the secret access key of all callers
	Now    func() time.Time
	Down   atomic.Bool // set while it fails
	// Cut is how many bytes it sends of an answer to the service, before it breaks the connection; 0: all.
	Cut atomic.Int64
}

// object is the path of an artifact.
var object = regexp.MustCompile(`^/[a-z0-9]+/[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}$`)

// A refusal is an answer of S3, by its code.
type refusal struct {
	status int
	code   string
}

func (r refusal) Error() string { return r.code }

var (
	badDigest = refusal{http.StatusBadRequest, "BadDigest"}
	twoAuths  = refusal{http.StatusBadRequest, "InvalidArgument: only one auth mechanism allowed"}
	denied    = refusal{http.StatusForbidden, "AccessDenied"}
	expired   = refusal{http.StatusForbidden, "AccessDenied: request has expired"}
	forged    = refusal{http.StatusForbidden, "SignatureDoesNotMatch"}
	noObject  = refusal{http.StatusNotFound, "NoSuchKey"}
	noLength  = refusal{http.StatusLengthRequired, "MissingContentLength"}
	down      = refusal{http.StatusServiceUnavailable, "ServiceUnavailable"}
	exists    = refusal{http.StatusPreconditionFailed, "PreconditionFailed"}
)

func (b *Bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Pages of any origin may upload with a signed URL.
	w.Header().Set("Access-Control-Allow-Origin", "*")
	if r.Method == http.MethodOptions {
		w.Header().Set("Access-Control-Allow-Methods", "PUT")
		w.Header().Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		return
	}
	err := b.answer(w, r)
	answer := refusal{http.StatusInternalServerError, "InternalError"}
	if err != nil && !errors.As(err, &answer) {
		answer.code += ": " + err.Error()
	}
	if err != nil {
		http.Error(w, answer.code, answer.status)
	}
}

func (b *Bucket) answer(w http.ResponseWriter, r *http.Request) error {
	if b.Down.Load() {
		return down
	}
	if !object.MatchString(r.URL.Path) {
		return noObject
	}
	root, err := os.OpenRoot(b.Folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	file := r.URL.Path[1:]
	own := strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if own || r.Method == http.MethodPut || r.Method == http.MethodDelete {
		if err := b.verify(r); err != nil {
			return err
		}
	}
	switch r.Method {
	case http.MethodPut:
		return put(root, r, file)
	case http.MethodDelete:
		if err := root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	case http.MethodGet, http.MethodHead:
		if most := b.Cut.Load(); own && most > 0 && r.Method == http.MethodGet {
			w = &cut{w, most}
		}
		return get(w, r, root, file, own)
	}
	return denied
}

// put stores the bytes, unless there are some.
func put(root *os.Root, r *http.Request, file string) error {
	if err := root.MkdirAll(path.Dir(file), 0o750); err != nil {
		return err
	}
	part, err := root.Create("part-" + rand.Text())
	if err != nil {
		return err
	}
	defer func() { _, _ = part.Close(), root.Remove(path.Base(part.Name())) }()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(part, sum), r.Body); err != nil {
		return err
	}
	if base64.StdEncoding.EncodeToString(sum.Sum(nil)) != r.Header.Get("X-Amz-Checksum-Sha256") {
		return badDigest
	}
	err = root.Link(path.Base(part.Name()), file) // fails if the file exists
	if errors.Is(err, fs.ErrExist) {
		return exists
	}
	return err
}

// get sends the bytes, or one range of them. own is set for the service itself, which may ask for their digest.
func get(w http.ResponseWriter, r *http.Request, root *os.Root, file string, own bool) error {
	f, err := root.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return noObject
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if own && r.Header.Get("X-Amz-Checksum-Mode") == "ENABLED" {
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil {
			return err
		}
		w.Header().Set("X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	}
	if strings.Contains(r.Header.Get("Range"), ",") {
		r.Header.Del("Range") // S3 sends all bytes if several ranges are asked for
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("ETag", strconv.Quote(path.Dir(file))) // its bytes never change
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}

// A cut breaks the connection after so many bytes.
type cut struct {
	http.ResponseWriter
	left int64
}

func (c *cut) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b[:min(int64(len(b)), c.left)])
	if c.left -= int64(n); err == nil && n < len(b) {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// These are the parts of a signature that the signer writes itself.
const (
	signature  = "X-Amz-Signature"
	credential = "X-Amz-Credential"
	signedAt   = "X-Amz-Date"
	lasts      = "X-Amz-Expires"
	headers    = "X-Amz-SignedHeaders"
	token      = "X-Amz-Security-Token"
	timeForm   = "20060102T150405Z"
)

// verify signs a request again, with the headers that its signature names, and compares.
func (b *Bucket) verify(r *http.Request) error {
	query, authorization := r.URL.Query(), r.Header.Get("Authorization")
	said := map[string]string{}
	for _, name := range []string{signature, credential, headers, signedAt, token, lasts} {
		said[name] = query.Get(name)
	}
	switch {
	case said[signature] != "" && authorization != "":
		return twoAuths
	case said[signature] == "":
		for _, pair := range strings.Split(strings.TrimPrefix(authorization, "AWS4-HMAC-SHA256 "), ", ") {
			name, value, _ := strings.Cut(pair, "=")
			said["X-Amz-"+name] = value
		}
		said[signedAt], said[token], said[lasts] = r.Header.Get(signedAt), r.Header.Get(token), "900"
	}
	scope := strings.Split(said[credential], "/")
	at, err := time.Parse(timeForm, said[signedAt])
	seconds, err2 := strconv.Atoi(said[lasts])
	if err != nil || err2 != nil || len(scope) != 5 {
		return denied
	}
	if age := b.Now().Sub(at); age > time.Duration(seconds)*time.Second || age < -15*time.Minute {
		return expired
	}
	names := strings.Split(said[headers], ";")
	if r.Method == http.MethodPut && !slices.Contains(names, "x-amz-checksum-sha256") {
		return denied // the bucket's policy requires a digest
	}
	for name := range r.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-amz-") && !slices.Contains(names, name) {
			return denied
		}
	}
	if r.ContentLength < 0 {
		return noLength
	}
	again, err := b.sign(r, names, said, scope, at)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(again), []byte(said[signature])) != 1 {
		return forged
	}
	return nil
}

// sign returns the signature that a request with the same signed headers has.
func (b *Bucket) sign(r *http.Request, names []string, said map[string]string, scope []string, at time.Time) (string, error) {
	again := &http.Request{Method: r.Method, Host: r.Host, URL: &url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path}, Header: http.Header{}}
	for _, name := range names {
		switch name {
		case "host":
		case "content-length":
			again.ContentLength = r.ContentLength
		default:
			again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	as := aws.Credentials{AccessKeyID: scope[0], SecretAccessKey: b.Secret, SessionToken: said[token]}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if r.Header.Get("Authorization") != "" {
		err := signer.SignHTTP(context.Background(), as, again, r.Header.Get("X-Amz-Content-Sha256"), scope[3], scope[2], at)
		_, signed, _ := strings.Cut(again.Header.Get("Authorization"), "Signature=")
		return signed, err
	}
	query := r.URL.Query()
	for _, name := range []string{signature, credential, headers, signedAt, token, "X-Amz-Algorithm"} {
		query.Del(name)
	}
	again.URL.RawQuery = query.Encode()
	signed, _, err := signer.PresignHTTP(context.Background(), as, again, "UNSIGNED-PAYLOAD", scope[3], scope[2], at)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(signed)
	if err != nil {
		return "", err
	}
	return u.Query().Get(signature), nil
}
