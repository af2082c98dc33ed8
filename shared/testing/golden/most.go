package golden

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// Most says how large an item of a kind can be by the rules: by its path, how many entries each list (with []) and map has at most, and how
// many bytes a text, also each in a list, if that is not what texts and mostText say; 0 for what is missing. The
// empty path is all of the item.
type Most map[string]int

const (
	// mostItem is far enough below DynamoDB's 400 KB. An event has a row before and after a change, and eventItself besides.
	mostItem    = 350 << 10
	eventItself = 40 << 10
	mostText    = 1024 // bytes: 256 characters
	mostName    = 128  // of an entry of a map
	mostNumber  = 8    // 14 digits
)

// texts are the bytes that texts of some names have at most.
var texts = map[string]int{
	"sha256": 64, "contentSha256": 64, "version": 64, "targetVersion": 64, "currentVersion": 64, "edgeType": 64, "channel": 64,
	"factoryId": 63, "organizationId": 64, "edgeId": 128, "id": 129, "rolloutId": 36, "methodId": 36, "timeZone": 64, "status": 16, "state": 16, "kind": 16,
	"issuer": 240, "userId": 255, "name": 800, "artifactUrl": 4096, "artifactHttpUrl": 4096, "url": 4096, "organizations": 64, "without": 64, "machines": 64, "classes": 64, "class": 64,
}

// fits checks that the largest item of the kind fits into the store, with its events.
func (k Kind) fits(t testing.TB, whole Plain, most Most) {
	t.Helper()
	unbound, used := map[string]bool{}, map[string]bool{}
	is := k.largest("", whole, most, func(path string) { used[path] = true }, func(path string) { unbound[path] = true })
	if n, bound := most[""]; bound {
		is, unbound = n, nil
	}
	t.Logf("%s: %d KB at most", k, is>>10)
	expect.That(t, len(unbound) == 0, "%s: how many entries do these have at most? %v", k, slices.Sorted(maps.Keys(unbound)))
	for path := range most {
		expect.That(t, used[path], "%s has no %s", k, path)
	}
	expect.That(t, is <= mostItem, "%s has %d bytes", k, is)
	expect.That(t, len(k.Copies) == 0 || is <= eventItself, "%s has %d bytes besides its copies", k, is)
	expect.That(t, is*k.Shown+eventItself <= mostItem, "%s has %d bytes, and its events have it %d times", k, is, k.Shown)
}

// Fits checks that the largest item of a kind that no Kept checks fits into the store.
func Fits(t testing.TB, id dynamo.TableID, kind string, most Most) {
	t.Helper()
	whole := Plain{}
	for _, i := range Of(t, id, kind) {
		maps.Copy(whole, i.Plain)
	}
	named(id, kind).fits(t, whole, most)
}

// largest is the size of a value, as DynamoDB counts it, once each list and map has as many entries, and each text as many bytes, as it
// can have.
func (k Kind) largest(path string, v any, most Most, used, unbound func(path string)) int {
	one := strings.TrimSuffix(path, "[]")
	if _, list := v.([]any); list {
		one = path + "[]"
	}
	n, bound := most[one]
	used(one)
	switch v := v.(type) {
	case string:
		m, known := texts[one[strings.LastIndex(one, ".")+1:]]
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return len(v)
		} else if bound {
			return n
		} else if known {
			return m
		}
		return mostText
	case []any:
		if !bound {
			unbound(one)
		}
		entry := 0
		for _, x := range v {
			entry = max(entry, k.largest(path+"[]", x, most, used, unbound))
		}
		return 3 + n*(1+entry)
	case Plain:
		if bound && n == 0 {
			return 0
		}
		size, entry := 3, 0
		for name, x := range v {
			at := strings.TrimPrefix(path+"."+name, ".")
			switch {
			case path == "" && k.Numbered != "" && strings.HasPrefix(name, k.Numbered):
				n, bound = most[k.Numbered]
				used(k.Numbered)
				entry = max(entry, len(name)+mostNumber)
			case slices.Contains(k.Free, path):
				entry = max(entry, mostName+k.largest(path+".*", x, most, used, unbound))
			case path != "" || !slices.Contains(k.Copies, name):
				size += len(name) + 1 + k.largest(at, x, most, used, unbound)
			}
		}
		if slices.Contains(k.Free, path) && !bound {
			unbound(path)
		}
		return size + n*(1+entry)
	}
	if bound {
		return n
	}
	return mostNumber
}
