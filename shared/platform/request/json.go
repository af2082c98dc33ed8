package request

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth caps how deep a body may nest. No operation needs more than one level.
const maxDepth = 16

// A member is one name and value of a JSON object, in the order they came.
type member struct {
	name  string
	value json.RawMessage
}

// object reads a JSON object strictly: what encoding/json would mend in silence (invalid UTF-8, half
// a surrogate pair, a second value behind the first) is refused. Names keep their case, and a name
// that comes twice is returned twice. kind is the JSON type of a value that is no object; a text that
// is no JSON gives its fault.
func object(text []byte) (members []member, kind, fault string) {
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return nil, "", "The body is empty; a JSON object is expected."
	case !utf8.Valid(text):
		return nil, "", "The body is not valid UTF-8."
	case depth(text) > maxDepth:
		return nil, "", "The body nests deeper than 16 levels."
	case !json.Valid(text):
		return nil, "", "The body is not one JSON value and nothing else (RFC 8259)."
	case halfSurrogate(text):
		return nil, "", `The body holds a \u escape that is half of a surrogate pair.`
	}
	if k := kindOf(text); k != "an object" {
		return nil, k, ""
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil { // the opening brace
		return nil, "", "The body is not valid JSON."
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, "", "The body is not valid JSON."
		}
		var m member
		m.name, _ = name.(string)
		if err := d.Decode(&m.value); err != nil {
			return nil, "", "The body is not valid JSON."
		}
		members = append(members, m)
	}
	return members, "an object", ""
}

// kindOf names the JSON type of a valid value, with its article.
func kindOf(value []byte) string {
	switch bytes.TrimSpace(value)[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// depth is how deep brackets nest outside strings, valid JSON or not.
func depth(text []byte) int {
	deepest, now := 0, 0
	inString, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case inString:
			inString, escaped = c != '"', c == '\\'
		case c == '"':
			inString = true
		case c == '{', c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}', c == ']':
			now--
		}
	}
	return deepest
}

// halfSurrogate finds a \u escape of valid JSON that stands for half a character, which the decoder
// would replace in silence.
func halfSurrogate(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		if text[i] != 'u' {
			continue
		}
		first := escapeAt(text, i-1)
		i += 4
		if !utf16.IsSurrogate(first) {
			continue
		}
		second := escapeAt(text, i+1)
		if utf16.DecodeRune(first, second) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

// escapeAt reads the \uXXXX at i, or -1 when there is none.
func escapeAt(text []byte, i int) rune {
	if i+6 > len(text) || text[i] != '\\' || text[i+1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// integer reads a JSON number that is a whole number, however it is written: 10, 10.0 and 1e1 are
// one number. It works on the digits and never rounds, so 10.0000000000000000001 is not 10. Whole
// numbers beyond 18 digits are not taken.
func integer(literal string) (int64, bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	negative := strings.HasPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return 0, true
	}
	scale := 0
	if exponent != "" {
		n, err := strconv.Atoi(exponent)
		if err != nil || n > math.MaxInt32 || n < math.MinInt32 {
			return 0, false
		}
		scale = n
	}
	trimmed := strings.TrimRight(digits, "0")
	// The value is trimmed × 10^scale.
	scale += len(digits) - len(trimmed) - len(fraction)
	if scale < 0 || len(trimmed)+scale > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(trimmed+strings.Repeat("0", scale), 10, 64)
	if err != nil {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}
