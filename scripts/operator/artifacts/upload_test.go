package artifacts

import (
	"testing"

	"wavegate/shared/fleet/artifact"
	"wavegate/shared/testing/expect"
)

// TestName_OfAnyFile_IsOneThatTheServiceTakes.
func TestName_OfAnyFile_IsOneThatTheServiceTakes(t *testing.T) {
	for path, want := range map[string]string{
		"/tmp/image-1.2.0.swu": "image-1.2.0.swu", "gateway (final).swu": "gateway-final-.swu", "Gerät 1.img": "Ger-t-1.img", "a..b": "a.b",
		".profile": "profile", "-x-": "x", "日本": "artifact",
	} {
		name := File{Path: path}.name()
		expect.Equal(t, name, want, "%s is kept as", path)
		expect.Equal(t, artifact.FilenameRule.Accepts(name), true, "the service takes %s:", name)
	}
}

func TestBar_FitsItsColumns(t *testing.T) {
	for columns, want := range map[int]string{
		60: "box.swu [############.............]  50 %  1.0 MB of 2.0 MB",
		30: "50 %  1.0 MB of 2.0 MB",
	} {
		got := bar("box.swu", 1_000_000, 2_000_000, columns)
		expect.That(t, got == want && len(got) < columns, "in %d columns it is %q", columns, got)
	}
	expect.Equal(t, []string{Bytes(12), Bytes(1500), Bytes(5 << 30)}, []string{"12 bytes", "1.5 kB", "5.37 GB"}, "sizes:")
}
