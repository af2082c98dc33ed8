package telemetry

import (
	"io"
	"os"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

func TestLog_EachLine_SaysTheRelease(t *testing.T) {
	stdout := os.Stdout
	defer func() { os.Stdout, Release = stdout, "" }()
	for release, want := range map[string]string{"": "message=call", "1.0.0": "release=1.0.0"} {
		r, w, err := os.Pipe()
		expect.OK(t, err)
		os.Stdout, Release = w, release
		Log().Info("call")
		expect.OK(t, w.Close())
		line := expect.Value(io.ReadAll(r))(t)
		if !strings.Contains(string(line), want) || strings.Contains(string(line), "release") != (release != "") {
			t.Errorf("of the release %q: %s", release, line)
		}
	}
}
