// Package artifacts has the commands for files that the service keeps, and sends files to its store for others.
package artifacts

import (
	"crypto/md5"  //nolint:gosec // clients of hawkBit's DDI compare it; it protects nothing
	"crypto/sha1" //nolint:gosec // like MD5
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A File is a release's file on this machine.
type File struct {
	Path              string
	Size              int64
	SHA256, SHA1, MD5 string
}

// Read reads a file once, for its size and digests.
func Read(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	strong, old, oldest := sha256.New(), sha1.New(), md5.New() //nolint:gosec // see above
	size, err := io.Copy(io.MultiWriter(strong, old, oldest), f)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	text := func(sum []byte) string { return hex.EncodeToString(sum) }
	return File{path, size, text(strong.Sum(nil)), text(old.Sum(nil)), text(oldest.Sum(nil))}, nil
}

// Describe adds the file's size and digests to a body.
func (f File) Describe(body map[string]any) {
	body["sizeBytes"], body["sha256"], body["sha1"], body["md5"] = f.Size, f.SHA256, f.SHA1, f.MD5
}

// Documents reads what a person wrote of documents: KIND=WHERE, with an https URL or the SHA-256 of an uploaded file.
func Documents(texts []string) (list []map[string]string) {
	for _, text := range texts {
		kind, where, _ := strings.Cut(text, "=")
		at := "sha256"
		if strings.Contains(where, "://") {
			at = "url"
		}
		list = append(list, map[string]string{"kind": kind, at: where})
	}
	return list
}

var (
	foreign = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
	dots    = regexp.MustCompile(`\.{2,}`)
)

// name is the file's name in its URL, which has only some characters.
func (f File) name() string {
	name := dots.ReplaceAllString(foreign.ReplaceAllString(filepath.Base(f.Path), "-"), ".")
	if name = strings.Trim(name, ".-"); name == "" {
		return "artifact"
	}
	return name
}

// Bytes writes a size for people.
func Bytes(n int64) string {
	switch size := float64(n); {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", size/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", size/1e6)
	default:
		return fmt.Sprintf("%.2f GB", size/1e9)
	}
}
