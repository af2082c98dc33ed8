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
	// CodeReverted is never reported: the box ran the version, then another one that it was not told, and has not said
	// why.
	CodeReverted FailureCode = "reverted"
)

// Codes lists all codes that a box may report.
var Codes = []FailureCode{CodeDownload, CodeChecksum, CodeSignature, CodeSpace, CodePower, CodeIncompatible, CodeInstall, CodeBoot, CodeHealth, CodeOther}

// surroundings are the codes of failures that concern a box and its factory, not the release.
var surroundings = []FailureCode{CodeDownload, CodeSpace, CodePower}

// BlamesRelease reports whether a failure with this code counts against the release. A factory's firewall, a full disk
// and a power cut do not.
func (c FailureCode) BlamesRelease() bool { return c != "" && !slices.Contains(surroundings, c) }

// Bad reports whether a box counts against a release at a time. A failed installation counts once it is as old as
// decideWithin, so that the box can try again. A failure after the box ran the release counts immediately, until the
// box has run the release for a soak. Failures with a code about the box's surroundings never count.
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
	return true // it fell back, perhaps before this offer of the version
}

// LivedOn reports whether a box was seen running the offered version at least a soak after it installed it.
func (o Offer) LivedOn(lastSeen time.Time, soak time.Duration) bool {
	return o.State == Installed && !lastSeen.Before(o.Since.Add(soak))
}
