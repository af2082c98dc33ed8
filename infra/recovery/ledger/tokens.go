package ledger

import (
	"slices"
	"strings"

	"wavegate/shared/platform/dynamo"
)

// hashes returns the token hashes in an item.
func hashes(item Item) (all []string) {
	tokens := Object(item, "tokens")
	for _, name := range []string{"current", "previous"} {
		if hash := Text(tokens, name); hash != "" {
			all = append(all, hash)
		}
	}
	if code := Text(item, "codeSha256"); code != "" {
		all = append(all, code)
	}
	return all
}

// auditTokens checks that no item and no event contains a token, or anything like one. Hashes of tokens are only in
// the attributes that are compared, never in those that are shown.
func (b Books) auditTokens(f *Findings) {
	kept := map[string]bool{}
	for _, items := range b {
		for _, item := range items {
			for _, hash := range hashes(item) {
				kept[hash] = true
			}
		}
	}
	for table, items := range b {
		for _, item := range items {
			if holds(item, func(s string) bool {
				return strings.HasPrefix(s, "wavegate-edge:") || strings.HasPrefix(s, "wavegate-gateway:") || strings.HasPrefix(s, "wavegate-enrol:")
			}) {
				f.Add("%s: a token is stored in %v", table, item)
			}
			if table != dynamo.Reports && table != dynamo.Gateways && table != dynamo.Enrolments && holds(item, func(s string) bool { return kept[s] }) {
				f.Add("%s: the hash of a token is stored in %v", table, item)
			}
		}
	}
}

func holds(value any, is func(string) bool) bool {
	switch v := value.(type) {
	case string:
		return is(v)
	case Item:
		for _, inner := range v {
			if holds(inner, is) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return holds(inner, is) })
	}
	return false
}
