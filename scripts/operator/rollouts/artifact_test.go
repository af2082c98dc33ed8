package rollouts

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"wavegate/shared/testing/expect"
)

// TestArtifact_File_GivesItsSizeAndDigests: they are those of FIPS 180 and RFC 1321 for abc.
func TestArtifact_File_GivesItsSizeAndDigests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "image")
	expect.OK(t, os.WriteFile(file, []byte("abc"), 0o600))
	a := artifact{url: "https://a.example/1", file: file, part: "bApp", withoutToken: true}
	got, err := a.publication("1.1.0")
	want := map[string]any{
		"currentVersion": "1.1.0", "artifactUrl": "https://a.example/1", "part": "bApp", "downloadWithoutToken": true, "sizeBytes": int64(3),
		"sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"sha1":   "a9993e364706816aba3e25717850c26c9cd0d89d", "md5": "900150983cd24fb0d6963f7d28e17f72",
	}
	expect.That(t, err == nil && maps.Equal(got, want), "got %v, %v", got, err)
	a.file = filepath.Join(t.TempDir(), "missing")
	if _, err := a.publication("1.1.0"); err == nil {
		t.Error("a file that is not there is published")
	}
}
