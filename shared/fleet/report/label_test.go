package report_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

func TestMeant_ALabel_MeansTheOnlyNameThatIsLikeIt(t *testing.T) {
	for label, c := range map[string]struct {
		names string
		means string
		needs report.Form
	}{
		"v1.4.0":      {"1.3.0 1.4.0", "1.4.0", report.Alike},
		`"V1_4-0 "`:   {"1.4.0", "1.4.0", report.Alike},
		"1.4.0-RC1":   {"1.4.0 1.4.0_rc1", "1.4.0_rc1", report.Alike},
		"1-4-0":       {"1.4.0 v1.4.0", "", ""}, // two are like it
		"1.4.0+7":     {"1.4.0 1.3.0", "1.4.0", report.IgnoreBuild},
		"1.4.0+1":     {"1.4.0+2", "1.4.0+2", report.IgnoreBuild},
		"1:1.4.0":     {"1.4.0", "1.4.0", report.IgnoreBuild},
		"V1.4.0+2":    {"1.4.0+1 1.4.0+2 1.4.0", "1.4.0+2", report.Alike},
		"1.4.0+3":     {"1.4.0+1 1.4.0+2", "", ""},
		"1.4.1":       {"1.4.0", "", ""},
		"1.4":         {"1.4.0", "", ""},
		"":            {"1.4.0", "", ""},
		"+7":          {"7", "", ""},
		`""`:          {"v", "", ""},
		"1.4.0 again": {"1.4.0", "", ""},
	} {
		name, needs := report.Meant(label, strings.Fields(c.names))
		if name != c.means || name != "" && needs != c.needs {
			t.Errorf("%q of %s: %q, %q; want %q, %q", label, c.names, name, needs, c.means, c.needs)
		}
	}
	for name, has := range map[string]bool{"1.4.0": false, "1.4.0+2": true, "1:1.4.0": true, "v1.4.0-rc.1": false} {
		expect.Equal(t, report.HasBuild(name), has, "%s: has a build", name)
	}
}

func TestForm_CoversWhatIsNeeded(t *testing.T) {
	for form, covers := range map[report.Form][]report.Form{"": {""}, report.Alike: {"", report.Alike}, report.IgnoreBuild: {"", report.Alike, report.IgnoreBuild}} {
		for _, needed := range []report.Form{"", report.Alike, report.IgnoreBuild} {
			want := strings.Contains(" "+strings.Join(texts(covers), " ")+" ", " "+string(needed)+" ") || needed == ""
			expect.Equal(t, form.Covers(needed), want, "%q covers %q", form, needed)
		}
	}
}

func texts(forms []report.Form) (list []string) {
	for _, f := range forms {
		list = append(list, string(f))
	}
	return list
}

// TestMeant_Any: a label of a name means it whatever other names there are, unless another one is like it, too; and no name means
// another name that differs in more than form.
func TestMeant_Any(t *testing.T) {
	version := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._+-]{0,20}`)
	rapid.Check(t, func(t *rapid.T) {
		name, others := version.Draw(t, "name"), rapid.SliceOfN(version, 0, 5).Draw(t, "others")
		label := rapid.SampledFrom([]string{`"%"`, "v%", " %", "'V%' "}).Draw(t, "label")
		label = strings.ReplaceAll(label, "%", name)
		means, needs := report.Meant(label, append(others, name))
		alone, _ := report.Meant(label, others)
		switch {
		case alone == "" && means != "" && (means != name || needs != report.Alike):
			t.Fatalf("%q means %q (%s) beside %v", label, means, needs, others)
		case means != "" && means != name && alone == "":
			t.Fatalf("%q means %q beside %v, and nothing without", label, means, others)
		}
		if only, needs := report.Meant(label, []string{name, name, ""}); only != name || needs != report.Alike {
			t.Fatalf("%q means %q, %s", label, only, needs)
		}
	})
}

func TestRow_ALabel_IsKeptAndShown(t *testing.T) {
	row := report.Row{EdgeID: "box", Offer: &report.Offer{Version: "1.4.0", State: report.Installed}}
	row.Runs("1.4.0", "v1.4.0+7")
	expect.Equal(t, row.Says(), "v1.4.0+7", "it says")
	expect.Equal(t, row.Mislabelled(), report.IgnoreBuild, "it needs")
	expect.That(t, row.Accepts("v1.4.0+7") && row.Accepts("1.4.0") && !row.Accepts("") && !row.Accepts("1.4.0+7"), "reports by its own text are about its offer")
	expect.That(t, strings.Contains(row.LabelSentence(report.Alike), "It says `v1.4.0+7` for release 1.4.0. That is no proof"), "%s", row.LabelSentence(report.Alike))
	expect.Equal(t, row.LabelSentence(report.IgnoreBuild), " It says `v1.4.0+7` for release 1.4.0.", "with the form")
	row.Runs("", "")
	expect.Equal(t, row.Running, "1.4.0", "a call without a version leaves it")
	row.Runs("1.4.0", "1.4.0")
	expect.That(t, row.Label == "" && row.Mislabelled() == "", "%+v", row)
}
