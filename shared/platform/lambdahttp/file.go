package lambdahttp

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// small is the size from which a body is compressed, in bytes.
const small = 1 << 10

// WriteFile answers with a body, or with 304 if the caller has it. Large bodies are compressed for those who take that, because
// Lambda returns at most 6 MB and smaller files load faster.
func WriteFile(w http.ResponseWriter, r *http.Request, mediaType, keep string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", keep)
	h.Set("Vary", "Accept-Encoding")
	// Weak, because the compressed and the uncompressed bytes share the tag.
	h.Set("ETag", fmt.Sprintf(`W/"%x"`, sha256.Sum256(body)))
	if len(body) >= small && r.Header.Get("Range") == "" && takesGzip(r.Header.Values("Accept-Encoding")) {
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is known
		_, _ = z.Write(body)                                       // it only works in memory
		_ = z.Close()
		body = packed.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// takesGzip reports whether the codings that a caller takes include gzip.
func takesGzip(accepted []string) bool {
	for coding := range strings.SplitSeq(strings.ToLower(strings.Join(accepted, ",")), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";")
		if name == "gzip" {
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}
