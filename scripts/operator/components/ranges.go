package components

import (
	"fmt"
	"strings"

	"github.com/google/osv-scalibr/semantic"
)

// orders names, for types of package URLs, the ecosystem whose order of versions OSV-SCALIBR knows. Other types have none.
var orders = map[string]string{
	"apk": "Alpine", "bitnami": "Bitnami", "cargo": "crates.io", "composer": "Packagist", "conan": "ConanCenter", "cran": "CRAN", "deb": "Debian",
	"gem": "RubyGems", "golang": "Go", "hackage": "Hackage", "hex": "Hex", "maven": "Maven", "npm": "npm", "nuget": "NuGet", "pub": "Pub", "pypi": "PyPI",
	"rpm": "Red Hat", "swift": "SwiftURL",
}

// A Match says whether a version lies in a range.
type Match string

// Matches. A version is Unknown if the SBOM does not say it, or if nothing orders it.
const (
	Yes     Match = "yes"
	No      Match = "no"
	Unknown Match = "unknown"
)

// A Range is what versions are compared with: ranges, each of bounds that all hold. Without any, every version is in it.
type Range struct {
	order string // of the ecosystem; empty: none
	any   [][]bound
}

type bound struct{ sign, version string }

// RangeOf reads a range such as >=3.0.0,<3.0.14|>=3.1.0,<3.1.6, or a single version, for a type of package URLs.
func RangeOf(kind, text string) (r Range, err error) {
	r.order = orders[kind]
	if text == "" {
		return r, nil
	}
	for _, one := range strings.Split(text, "|") {
		var all []bound
		for _, each := range strings.Split(one, ",") {
			each = strings.TrimSpace(each)
			version := strings.TrimLeft(each, "<>=")
			b := bound{each[:len(each)-len(version)], strings.TrimSpace(version)}
			if b.version == "" || !strings.Contains(" < <= > >= = ", " "+b.sign+" ") && b.sign != "" {
				return r, fmt.Errorf("%q is no version and no bound such as <3.0.14", each)
			}
			if _, err := r.compared(b.version, b.version); r.order != "" && err != nil {
				return r, fmt.Errorf("%q is no version of the ecosystem %s: %w", b.version, r.order, err)
			}
			all = append(all, b)
		}
		r.any = append(r.any, all)
	}
	return r, nil
}

// Ordered reports whether something orders the versions.
func (r Range) Ordered() bool { return r.order != "" }

func (r Range) compared(version, with string) (int, error) {
	v, err := semantic.Parse(version, r.order)
	if err != nil {
		return 0, err
	}
	return v.CompareStr(with)
}

// Has reports whether a version lies in the range.
func (r Range) Has(version string) Match {
	if r.any == nil {
		return Yes
	}
	best := No
	for _, all := range r.any {
		is := Yes
		for _, b := range all {
			switch r.meets(version, b) {
			case No:
				is = No
			case Unknown:
				if is == Yes {
					is = Unknown
				}
			}
		}
		if is == Yes || best == No {
			best = is
		}
		if best == Yes {
			break
		}
	}
	return best
}

// meets compares a version with a bound. Without an order, only equal versions are known to meet it, or not.
func (r Range) meets(version string, b bound) Match {
	exact := b.sign == "" || b.sign == "="
	order, err := r.compared(version, b.version)
	switch {
	case version == "":
		return Unknown
	case version == b.version:
		return either(b.sign != "<" && b.sign != ">")
	case r.order == "" && exact:
		return No
	case r.order == "" || err != nil:
		return Unknown
	case exact:
		return either(order == 0)
	case order == 0:
		return either(len(b.sign) == 2)
	}
	return either((order < 0) == (b.sign[0] == '<'))
}

func either(is bool) Match {
	if is {
		return Yes
	}
	return No
}
