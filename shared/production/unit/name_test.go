package unit_test

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/production/unit"
	"wavegate/shared/testing/expect"
)

func TestName_SaysTheUnitInFull(t *testing.T) {
	for code, want := range map[string]string{
		"Cel": "degree Celsius", "C": "coulomb", "F": "farad", "pH": "picohenry", "[pH]": "pH", "ph": "phot", "R": "roentgen", "S": "siemens",
		"A/dm2": "ampere per square decimeter", "/min": "per minute", "mm": "millimeter", "kg": "kilogram", "N.m": "newton meter", "cm3": "cubic centimeter",
		"{piece}": "piece", "{piece}/h": "piece per hour", "%{relative-humidity}": "percent relative-humidity", "bar{gauge}": "bar gauge", "cm3{standard}/min": "cubic centimeter standard per minute",
		"um[Hg]": "micrometer of mercury column", "1": "1", "10*3.mm": "10*3 millimeter", "m-2": "m-2", "[hp'_X]": "[hp'_X]", "(m/s)2": "(m/s)2", "mph": "milliphot", "ft": "femtometric ton",
		"m4": "meter to the power of 4", "min": "minute", "[psi]": "pound-force per square inch",
	} {
		expect.Equal(t, unit.Name(code), want, "the name of %s", code)
	}
}

// rowsOf reads a table of the package.
func rowsOf(t *testing.T, file string) (list [][]string) {
	for line := range strings.Lines(string(expect.Value(os.ReadFile(file))(t))) {
		list = append(list, strings.Split(strings.TrimSpace(line), "\t"))
	}
	return list
}

func TestTables_HaveOnlyCodesOfUCUM_EachOnce(t *testing.T) {
	for _, file := range []string{"names.tsv", "mistaken.tsv"} {
		seen := map[string]bool{}
		for _, row := range rowsOf(t, file) {
			expect.That(t, unit.Valid(row[0]) && !seen[row[0]], "%s in %s: known %t, seen before %t", row[0], file, unit.Valid(row[0]), seen[row[0]])
			seen[row[0]] = true
			if file == "mistaken.tsv" {
				m, is := unit.Mistaken(row[0])
				_, meantToo := unit.Mistaken(m.Meant)
				expect.That(t, is && unit.Valid(m.Meant), "%s: %s is no code", row[0], m.Meant)
				expect.That(t, !meantToo || row[0] == "Gs", "%s is answered with %s, which is a mistake itself", row[0], m.Meant)
			}
		}
	}
}

func TestCheck_WhatPeopleWrite_IsAnsweredWithACode(t *testing.T) {
	for code, want := range map[string]string{
		"Torr": "mm[Hg]", "mTorr": "um[Hg]", "sccm": "cm3{standard}/min", "bar(g)": "bar{gauge}", "%RH": "%{relative-humidity}", "VA": "V.A", "HRC": "{HRC}",
		"gal/min": "[gal_us]/min", "m^2": "m2", "W/m^2": "W/m2", "kg/m^3": "kg/m3", "mmHg": "mm[Hg]", "psig": "[psi]{gauge}", "°Bx": "%{Brix}", "yd": "[yd_i]",
		"rev/min": "/min", "lbf": "[lbf_av]", "ft-lb": "[ft_i].[lbf_av]", "wt%": "%{weight}", "kVA": "kV.A", "cfm": "[cft_i]/min", "mm^-1": "mm-1",
	} {
		err := unit.Check(code)
		expect.That(t, err != nil && strings.Contains(err.Error(), "did you mean "+want+"?"), "Check(%q) says %v, want %s", code, err, want)
		expect.That(t, unit.Valid(want), "%s, the answer to %s, is no code", want, code)
	}
}

func TestName_OfAnyValidCode_IsNeverEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.StringOfN(rapid.SampledFrom([]rune("mgsKCAVl%{}[]()/.*1230-+inftpHuk'_")), 1, 12, -1).Draw(t, "code")
		expect.That(t, !unit.Valid(code) || unit.Name(code) != "", "%q has no name", code)
	})
}

func FuzzName(f *testing.F) {
	for _, code := range []string{"Cel", "A/dm2", "{piece}", "10*3.mm", "bar{gauge}", "(m/s)2", "/min"} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		if unit.Valid(code) && unit.Name(code) == "" {
			t.Errorf("%q has no name", code)
		}
	})
}
