package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// A build identifies this program. Builds from the same sources with the same Go have the same bytes, so the digest
// also identifies the sources; dist/cli/SHA256SUMS lists it.
type build struct {
	SHA256   string `json:"sha256"`
	Revision string `json:"revision,omitempty"` // the commit, if the program was built with it
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show which build of the command this is",
		Long: "Shows which build of the command this is, by the SHA-256 of its bytes: the same sources, built with the same Go for\n" +
			"the same platform, have the same bytes. It calls no service.",
		Example: "  wavegate version\n  wavegate version --json",
		Args:    cobra.NoArgs,
		RunE: a.run(func(context.Context, []string) error {
			b, err := thisBuild()
			if err != nil {
				return err
			}
			if a.json {
				text, err := json.Marshal(b)
				a.show(text)
				return err
			}
			rows := []string{cells("wavegate", b.SHA256[:12]), cells("sha256", b.SHA256)}
			if b.Revision != "" {
				rows = append(rows, cells("revision", b.Revision))
			}
			return a.table(append(rows, cells("go", b.Go), cells("platform", b.Platform))...)
		}),
	}
}

func thisBuild() (b build, err error) {
	b.Go, b.Platform = runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Revision = s.Value
			}
		}
	}
	name, err := os.Executable()
	if err != nil {
		return b, fmt.Errorf("version: %w", err)
	}
	f, err := os.Open(name)
	if err != nil {
		return b, fmt.Errorf("version: %w", err)
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return b, fmt.Errorf("version: %w", err)
	}
	b.SHA256 = hex.EncodeToString(digest.Sum(nil))
	return b, nil
}
