package report

import "slices"

// A Code says why an attempt failed.
type Code string

// Codes.
const (
	CodeDownload     Code = "download"
	CodeChecksum     Code = "checksum"
	CodeSignature    Code = "signature"
	CodeSpace        Code = "space"
	CodePower        Code = "power"
	CodeIncompatible Code = "incompatible"
	CodeInstall      Code = "install"
	CodeBoot         Code = "boot"
	CodeHealth       Code = "health"
	CodeOther        Code = "other"
	// CodeReverted is never reported: the box ran the version and then another one that it was not told, and has not
	// said why.
	CodeReverted Code = "reverted"
)

// Codes lists all that a box may report.
var Codes = []Code{CodeDownload, CodeChecksum, CodeSignature, CodeSpace, CodePower, CodeIncompatible, CodeInstall, CodeBoot, CodeHealth, CodeOther}

// surroundings are the codes of what is about a box and its plant, and not about the release.
var surroundings = []Code{CodeDownload, CodeSpace, CodePower}

// BlamesRelease tells whether a failure with this code speaks against the release. A plant's firewall, a
// full disk and a power cut do not.
func (c Code) BlamesRelease() bool { return c != "" && !slices.Contains(surroundings, c) }

// Bad tells whether the offer's outcome speaks against the release.
func (o Offer) Bad() bool {
	return o.Stand == Reverted || o.Stand == Failed && o.Code.BlamesRelease()
}
