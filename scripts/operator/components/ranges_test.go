package components_test

import (
	"testing"

	"wavegate/scripts/operator/components"
	"wavegate/shared/testing/expect"
)

// TestRange_OfRealAdvisories_HitsAsByHand has the ranges of ten published advisories, and versions on both sides of their bounds.
func TestRange_OfRealAdvisories_HitsAsByHand(t *testing.T) {
	for name, c := range map[string]struct {
		kind, within string
		hit, free    []string
	}{
		"CVE-2021-23337, lodash":   {"npm", "<4.17.21", []string{"4.17.20", "4.17.9", "0.1.0", "4.17.21-rc.1"}, []string{"4.17.21", "5.0.0", "4.18.0"}},
		"CVE-2022-23491, certifi":  {"pypi", ">=2017.11.05,<2022.12.07", []string{"2022.9.24", "2017.11.5", "2022.12.7rc1"}, []string{"2022.12.7", "2017.11.4", "2023.7.22"}},
		"CVE-2021-44228, log4j":    {"maven", ">=2.0-beta9,<2.3.1|>=2.4,<2.12.2|>=2.13.0,<2.15.0", []string{"2.14.1", "2.0", "2.12.1", "2.0-beta9"}, []string{"2.15.0", "2.3.1", "2.12.2", "1.2.17", "2.0-beta8"}},
		"CVE-2022-32149, x/text":   {"golang", "<0.3.8", []string{"v0.3.7", "0.3.7"}, []string{"v0.3.8", "v0.12.0"}},
		"DSA-5532, openssl":        {"deb", "<3.0.11-1~deb12u2", []string{"3.0.11-1~deb12u1", "3.0.9-1", "1:0.9-1"[2:]}, []string{"3.0.11-1~deb12u2", "3.0.13-1", "1:3.0.9-1"}},
		"RHSA-2024:1610, less":     {"rpm", "<0:590-4.el9_4", []string{"590-3.el9_3", "0:590-3.el9"}, []string{"590-4.el9_4", "1:590-3.el9", "608-1.el9"}},
		"CVE-2022-37434, zlib":     {"apk", "<1.2.12-r2", []string{"1.2.12-r1", "1.2.12-r0", "1.2.11-r3"}, []string{"1.2.12-r2", "1.2.13-r0"}},
		"RUSTSEC-2020-0071, time":  {"cargo", ">=0.1.0,<0.2.23", []string{"0.2.22", "0.1.45"}, []string{"0.2.23", "0.3.0"}},
		"CVE-2024-0056, SqlClient": {"nuget", ">=2.0.0,<2.1.7|>=3.0.0,<3.1.5", []string{"2.1.6", "3.1.4.0"}, []string{"2.1.7", "3.1.5", "4.0.0"}},
		"CVE-2022-23633, actionpack": {"gem", ">=5.0.0,<=5.2.6.1|>=6.0.0.beta1,<6.0.4.6", []string{"5.2.6.1", "6.0.0.rc1", "6.0.4.5"},
			[]string{"5.2.6.2", "6.0.4.6", "4.2.11"}},
	} {
		r := expect.Value(components.RangeOf(c.kind, c.within))(t)
		for _, v := range c.hit {
			expect.Equal(t, r.Has(v), components.Yes, "%s: %s", name, v)
		}
		for _, v := range c.free {
			expect.Equal(t, r.Has(v), components.No, "%s: %s", name, v)
		}
		expect.Equal(t, r.Has(""), components.Unknown, "%s: no version", name)
	}
}

func TestRange_WithoutAnOrder_ComparesExactly(t *testing.T) {
	for text, want := range map[string]components.Match{
		"": components.Yes, "1.36.1": components.Yes, "=1.36.1": components.Yes, "1.36": components.No, "<=1.36.1": components.Yes, "<1.36.1": components.No,
		"<2": components.Unknown, ">=1,1.0": components.No, "1.0|1.36.1": components.Yes, "1.0|<2": components.Unknown,
	} {
		r := expect.Value(components.RangeOf("generic", text))(t)
		expect.Equal(t, r.Has("1.36.1"), want, "in %q", text)
	}
}

func TestRange_ThatIsNone_IsRefused(t *testing.T) {
	for _, text := range []string{"<", "1.0,", "<>1", "=<1", "==1", "|1", ">= "} {
		_, err := components.RangeOf("npm", text)
		expect.Must(t, err != nil, "%q is taken", text)
	}
}
