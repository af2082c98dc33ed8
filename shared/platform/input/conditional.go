package input

import (
	"net/http"
	"strconv"
	"strings"

	"wavegate/shared/platform/problem"
)

// Preconditions are the If-Match and If-None-Match of a request (RFC 9110 §13.1).
type Preconditions struct {
	match, noneMatch       tags
	hasMatch, hasNoneMatch bool
}

// Matching is the condition that a resource has an entity tag. It is for changes without a
// request.
func Matching(etag string) Preconditions {
	return Preconditions{match: tags{list: []string{etag}}, hasMatch: true}
}

type tags struct {
	any  bool
	list []string
}

// Preconditions reads the request's conditions. It accepts lists and *. A malformed list is a
// fault.
func (in *Reader) Preconditions() Preconditions {
	var p Preconditions
	p.match, p.hasMatch = in.tags("If-Match")
	p.noneMatch, p.hasNoneMatch = in.tags("If-None-Match")
	return p
}

func (in *Reader) tags(header string) (tags, bool) {
	values := in.r.Header.Values(header)
	if len(values) == 0 {
		return tags{}, false
	}
	t, ok := parseTags(strings.Join(values, ","))
	if !ok {
		in.parameter(header, "format", `must be * or a list of entity tags such as "3"`)
	}
	return t, true
}

// parseTags reads * or #entity-tag (RFC 9110 §8.8.3). Weak tags keep their W/.
func parseTags(s string) (tags, bool) {
	s = strings.Trim(s, " \t")
	if s == "*" {
		return tags{any: true}, true
	}
	var t tags
	for s != "" {
		if s[0] == ',' || s[0] == ' ' || s[0] == '\t' {
			s = s[1:]
			continue
		}
		weak := ""
		if strings.HasPrefix(s, "W/") {
			weak, s = "W/", s[2:]
		}
		if !strings.HasPrefix(s, `"`) {
			return tags{}, false
		}
		end := strings.IndexByte(s[1:], '"')
		if end < 0 {
			return tags{}, false
		}
		for _, c := range []byte(s[1 : 1+end]) {
			if c <= ' ' || c == 0x7f {
				return tags{}, false
			}
		}
		t.list = append(t.list, weak+s[:end+2])
		s = strings.TrimLeft(s[end+2:], " \t")
		if s != "" && s[0] != ',' {
			return tags{}, false
		}
	}
	return t, len(t.list) > 0
}

// has compares strongly, so a weak tag never matches.
func (t tags) has(etag string) bool {
	for _, one := range t.list {
		if one == etag {
			return true
		}
	}
	return t.any
}

// hasWeakly compares as If-None-Match does: it ignores W/.
func (t tags) hasWeakly(etag string) bool {
	for _, one := range t.list {
		if strings.TrimPrefix(one, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return t.any
}

// Revision is the entity tag of a resource's revision. It is empty for revision 0, which means
// that there is no resource.
func Revision(n int64) string {
	if n == 0 {
		return ""
	}
	return `"` + strconv.FormatInt(n, 10) + `"`
}

// Check returns nil if a change may be made to a resource with the entity tag etag, and
// PRECONDITION_FAILED otherwise. An empty etag means that the resource does not exist.
func (p Preconditions) Check(etag string) error {
	exists := etag != ""
	if p.hasMatch && (!exists || !p.match.has(etag)) {
		return problem.New(problem.PreconditionFailed, "The resource does not have the entity tag in If-Match; read it again.")
	}
	if p.hasNoneMatch && exists && p.noneMatch.hasWeakly(etag) {
		return problem.New(problem.PreconditionFailed, "The resource already exists (If-None-Match).")
	}
	return nil
}

// NotModified reports whether to answer a GET or HEAD with 304, if the answer has the entity tag.
// A malformed header is ignored, because a full answer is always correct.
func NotModified(r *http.Request, etag string) bool {
	values := r.Header.Values("If-None-Match")
	if len(values) == 0 || etag == "" {
		return false
	}
	t, ok := parseTags(strings.Join(values, ","))
	return ok && t.hasWeakly(etag)
}
