package answers

import (
	"reflect"
	"slices"
	"time"

	"wavegate/infra/recovery/ledger"
)

// ofRelease are the fields of a publication about its release, except for the digest. All channels with the version
// show them, no matter which publication gave them.
var ofRelease = []string{"artifactUrl", "sizeBytes", "sha1", "md5", "part", "artifactHttpUrl", "downloadWithoutToken"}

// published reports whether a channel had the values of a publication, together with those that others had given for
// the release.
func (x *explainer) published(c Call, e ledger.Event) bool {
	if c.Operation != "publish-release" || !c.says(e.After, ofRelease...) {
		return false
	}
	asked := c.fields()
	return !slices.ContainsFunc(ofRelease, func(name string) bool {
		return asked[name] != nil && !x.said(e.After, name, asked[name], c.Ended)
	})
}

// said reports whether a version was published with a value before a time, on this channel or another one.
func (x *explainer) said(channel ledger.Item, name string, value any, before time.Time) bool {
	return x.some(func(e ledger.Event) bool {
		return ledger.Text(e.After, "edgeType") == ledger.Text(channel, "edgeType") && ledger.Text(e.After, "currentVersion") == ledger.Text(channel, "currentVersion") &&
			reflect.DeepEqual(e.After[name], value) && x.began(e).Before(before)
	})
}
