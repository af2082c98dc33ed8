package report

import (
	"slices"
	"time"
)

// A FailureCode says why an attempt failed.
type FailureCode string

// Codes.
const (
	CodeDownload     FailureCode = "download"
	CodeChecksum     FailureCode = "checksum"
	CodeSignature    FailureCode = "signature"
	CodeSpace        FailureCode = "space"
	CodePower        FailureCode = "power"
	CodeIncompatible FailureCode = "incompatible"
	CodeInstall      FailureCode = "install"
	CodeBoot         FailureCode = "boot"
	CodeHealth       FailureCode = "health"
	CodeOther        FailureCode = "other"
	// CodeReverted is never reported: the box ran the version and then another one that it was not told, and has not
	// said why.
	CodeReverted FailureCode = "reverted"
)

// Codes lists all that a box may report.
var Codes = []FailureCode{CodeDownload, CodeChecksum, CodeSignature, CodeSpace, CodePower, CodeIncompatible, CodeInstall, CodeBoot, CodeHealth, CodeOther}

// surroundings are the codes of what is about a box and its plant, and not about the release.
var surroundings = []FailureCode{CodeDownload, CodeSpace, CodePower}

// BlamesRelease reports whether a failure with this code speaks against the release. A plant's firewall, a
// full disk and a power cut do not.
func (c FailureCode) BlamesRelease() bool { return c != "" && !slices.Contains(surroundings, c) }

// Bad reports whether a box speaks against a release at a time. A box whose installation failed does so once the failure
// is as old as a box may take to install, so that it can try again. One on which something went wrong after it ran the
// release does so at once, and until it has run the release for a soak. Failures whose code is about the box's
// surroundings never do.
func (e IndexEntry) Bad(at time.Time, decideWithin, soak time.Duration) bool {
	if !e.Code.BlamesRelease() {
		return false
	}
	age := at.Sub(e.Since)
	switch e.State {
	case Installed:
		return age < soak
	case Failed:
		return e.Running == e.Version || age >= decideWithin
	}
	return true // it fell back, or did so before this offer of the version
}

// LivedOn reports whether a box was seen running the offered version at least a soak after it installed it.
func (o Offer) LivedOn(lastSeen time.Time, soak time.Duration) bool {
	return o.State == Installed && !lastSeen.Before(o.Since.Add(soak))
}
