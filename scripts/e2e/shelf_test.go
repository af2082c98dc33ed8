package e2e

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

// A shelf serves one file over HTTPS to anyone.
type shelf struct {
	*httptest.Server
	content []byte
	slow    bool
	// tokens counts the requests with a token, and sent the bytes.
	tokens, sent atomic.Int64
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{content: bytes.Repeat([]byte("image"), 100_000)}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *shelf) serve(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		s.tokens.Add(1)
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(s.content)))
	for part := range slices.Chunk(s.content, 16<<10) {
		n, err := w.Write(part)
		s.sent.Add(int64(n))
		if err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		if s.slow {
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// certificate is a file with the shelf's certificate.
func (s *shelf) certificate(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	expect.OK(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	return file
}

// publication is the publication of the file, with the digests of other bytes if it is broken.
func (s *shelf) publication(version string, broken bool) string {
	content := s.content
	if broken {
		content = []byte("other bytes")
	}
	return fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"%s/%s.img","sha256":"%x","sizeBytes":%d,"sha1":"%x","md5":"%x"}`,
		version, s.URL, version, sha256.Sum256(content), len(s.content), sha1.Sum(content), md5.Sum(content))
}
