package account

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/platform/telemetry"
	"wavegate/shared/platform/zones"
)

// Version is the command that shows which program this is.
func Version(r *run.Run) *cobra.Command {
	return r.Local(&cobra.Command{
		Use: "version", Short: "Show which build of the command this is",
		Long: "Shows the release, and which build of the command this is, by the SHA-256 of its bytes: the same sources, built with the same Go for " +
			"the same platform, have the same bytes. It calls no service.",
		Example: "wavegate version\nwavegate version --json",
	}, func(context.Context, []string) error {
		b, err := thisBuild()
		if err != nil {
			return fmt.Errorf("version: %w", err)
		}
		if r.JSON {
			return r.ShowDocument(b)
		}
		rows := []string{terminal.Cells("wavegate", cmp.Or(b.Version, b.SHA256[:12])), terminal.Cells("sha256", b.SHA256),
			terminal.Cells("time zones", "IANA "+b.TimeZones)}
		if b.Revision != "" {
			rows = append(rows, terminal.Cells("revision", b.Revision))
		}
		return r.Table(append(rows, terminal.Cells("go", b.Go), terminal.Cells("platform", b.Platform))...)
	})
}

// A build identifies this program. Builds from the same sources with the same Go have the same bytes, so the digest
// also identifies the sources.
type build struct {
	Version  string `json:"version,omitempty"` // of a release
	SHA256   string `json:"sha256"`
	Revision string `json:"revision,omitempty"` // the commit, if the program was built with it
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// TimeZones is the release of the time zone database.
	TimeZones string `json:"timeZones"`
}

func thisBuild() (b build, err error) {
	b.Version, b.Go, b.Platform, b.TimeZones = telemetry.Release, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, zones.Release()
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Revision = s.Value
			}
		}
	}
	name, err := os.Executable()
	if err != nil {
		return b, err
	}
	f, err := os.Open(name)
	if err != nil {
		return b, err
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return b, err
	}
	b.SHA256 = hex.EncodeToString(digest.Sum(nil))
	return b, nil
}
