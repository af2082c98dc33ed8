package census

import (
	"strings"
	"testing"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

func TestDownload_FailureThatMayBeOne_IsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		code   report.FailureCode
		detail string
		kept   bool
		says   string
	}{
		"the host refused":                  {report.CodeOther, "Error: HTTP 403 while downloading", false, "refused"},
		"the host refused a kept artifact":  {report.CodeOther, "ERROR: server replied 404", true, "refused"},
		"SWUpdate cannot read the image":    {report.CodeOther, "No suitable .swu image found", false, "may be the cause"},
		"SWUpdate cannot read a kept image": {report.CodeOther, "No suitable .swu image found", true, ""},
		"RAUC cannot read the bundle":       {report.CodeOther, "Failed to check bundle: Invalid bundle format", false, "may be the cause"},
		"the client says what is wrong":     {report.CodeIncompatible, "parse error: other hardware", false, ""},
		"something else":                    {report.CodeOther, "installation of image 14034 failed", false, ""},
		"nothing":                           {report.CodeOther, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			row := report.Row{DDI: true, Offer: &report.Offer{Version: "1.1.0", State: report.Failed, Code: c.code, Detail: c.detail}}
			got := download(row, release.Release{KeptArtifact: c.kept})
			expect.Equal(t, (got != "") == (c.says != "") && strings.Contains(got, c.says), true, "said %q", got)
			row.DDI = false
			expect.Equal(t, download(row, release.Release{}), "", "of another client")
		})
	}
}
