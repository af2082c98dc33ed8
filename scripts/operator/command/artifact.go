package command

import (
	"crypto/md5"  //nolint:gosec // clients of hawkBit's DDI compare it; it protects nothing
	"crypto/sha1" //nolint:gosec // like MD5
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// An artifact is a person's description of a version's bytes.
type artifact struct {
	url, httpURL, part, digest, file string
	withoutToken                     bool
}

func (a *artifact) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.url, "url", "", "where the boxes find the version, an https URL")
	cmd.Flags().StringVar(&a.digest, "sha256", "", "the SHA-256 of its bytes, in hexadecimal, instead of --file")
	cmd.Flags().StringVar(&a.file, "file", "", "the version's bytes, to compute their size and digests; they are not sent")
	cmd.Flags().StringVar(&a.httpURL, "http-url", "", "another address of the bytes, for DDI clients that only follow the link download-http")
	cmd.Flags().StringVar(&a.part, "part", "", "the kind of the release that DDI clients are told; os by default")
	cmd.Flags().BoolVar(&a.withoutToken, "download-without-token", false, "the host of the bytes needs no token")
	_ = cmd.MarkFlagRequired("url") // it was declared above
	cmd.MarkFlagsOneRequired("sha256", "file")
	cmd.MarkFlagsMutuallyExclusive("sha256", "file")
}

// publication returns the request body that publishes the version.
func (a *artifact) publication(version string) (map[string]any, error) {
	body := map[string]any{"currentVersion": version, "artifactUrl": a.url, "sha256": a.digest}
	for name, value := range map[string]string{"artifactHttpUrl": a.httpURL, "part": a.part} {
		if value != "" {
			body[name] = value
		}
	}
	if a.withoutToken {
		body["downloadWithoutToken"] = true
	}
	if a.file == "" {
		return body, nil
	}
	f, err := os.Open(a.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	strong, old, oldest := sha256.New(), sha1.New(), md5.New() //nolint:gosec // see above
	size, err := io.Copy(io.MultiWriter(strong, old, oldest), f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.file, err)
	}
	body["sizeBytes"], body["sha256"] = size, hex.EncodeToString(strong.Sum(nil))
	body["sha1"], body["md5"] = hex.EncodeToString(old.Sum(nil)), hex.EncodeToString(oldest.Sum(nil))
	return body, nil
}
