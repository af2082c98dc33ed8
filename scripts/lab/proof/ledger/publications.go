package ledger

import (
	"reflect"
	"slices"
	"time"
)

// ofRelease are what a publication says of its release, beside its digest. All channels of the version show it, whichever said it.
var ofRelease = []string{"artifactUrl", "sizeBytes", "sha1", "md5", "part", "artifactHttpUrl", "downloadWithoutToken"}

// published reports whether a channel was as a publication asks, with what others had said of the release.
func (x *explainer) published(c Call, e Event) bool {
	if c.Operation != "publish-release" || !c.says(e.After, ofRelease...) {
		return false
	}
	asked := c.fields()
	return !slices.ContainsFunc(ofRelease, func(name string) bool {
		return asked[name] != nil && !x.said(e.After, name, asked[name], c.Ended)
	})
}

// said reports whether a channel's version was published with a value, there or on another channel, before a time.
func (x *explainer) said(channel Item, name string, value any, before time.Time) bool {
	for _, events := range x.trail {
		for _, e := range events {
			if text(e.After, "edgeType") == text(channel, "edgeType") && text(e.After, "currentVersion") == text(channel, "currentVersion") &&
				reflect.DeepEqual(e.After[name], value) && x.began(e).Before(before) {
				return true
			}
		}
	}
	return false
}
