package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting of objects and arrays.
const MaxDepth = 16

// These are the reasons why CheckJSON refuses a text. Each continues a sentence such as "The body
// …".
var (
	ErrEmpty     = errors.New("is empty")
	ErrUTF8      = errors.New("is not valid UTF-8")
	ErrDepth     = errors.New("nests deeper than 16 levels")
	ErrSyntax    = errors.New("must be exactly one JSON value (RFC 8259)")
	ErrSurrogate = errors.New(`contains a \u escape that is half of a surrogate pair`)
)

// CheckJSON reports whether a text is one JSON value that can be read without loss.
func CheckJSON(text []byte) error {
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return ErrEmpty
	case !utf8.Valid(text):
		return ErrUTF8
	case depth(text) > MaxDepth:
		return ErrDepth
	case !json.Valid(text):
		return ErrSyntax
	case halfSurrogate(text):
		return ErrSurrogate
	}
	return nil
}

// A Member is one name and value of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Members lists the members of an object that CheckJSON accepted, in order. It lists none for any
// other value.
func Members(object []byte) []Member {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	var members []Member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		var m Member
		m.Name, _ = name.(string)
		if err := d.Decode(&m.Value); err != nil {
			return nil
		}
		members = append(members, m)
	}
	return members
}

// Elements lists the elements of an array that CheckJSON accepted. It lists none for any other
// value.
func Elements(array []byte) []json.RawMessage {
	var elements []json.RawMessage
	if json.Unmarshal(array, &elements) != nil {
		return nil
	}
	return elements
}

// A Type is a JSON type, with its article.
type Type string

// Kinds.
const (
	ObjectKind  Type = "an object"
	ArrayKind   Type = "an array"
	StringKind  Type = "a string"
	NumberKind  Type = "a number"
	BooleanKind Type = "a boolean"
	NullKind    Type = "null"
)

// KindOf is the type of a value that CheckJSON accepted.
func KindOf(value []byte) Type {
	switch bytes.TrimSpace(value)[0] {
	case '{':
		return ObjectKind
	case '[':
		return ArrayKind
	case '"':
		return StringKind
	case 't', 'f':
		return BooleanKind
	case 'n':
		return NullKind
	}
	return NumberKind
}

// depth is the deepest nesting of brackets outside of strings, also for invalid JSON.
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

// halfSurrogate finds a \u escape for half of a character in valid JSON. The decoder would
// silently replace it.
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

// escapeAt reads the escape of \u and four hex digits at i. It returns -1 if there is none.
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

// ParseInteger reads a JSON number that is a whole number in any spelling: 10, 10.0 and 1e1 are the
// same. It never rounds, so 10.0000000000000000001 is not 10. It refuses numbers of more than 18
// digits.
func ParseInteger(literal string) (int64, bool) {
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

// significant is how many significant digits a JSON number has. Zeros at either end do not
// count, so 0.0150 and 1500 have two.
func significant(literal string) int {
	mantissa, _, _ := strings.Cut(strings.ToLower(literal), "e")
	digits := strings.ReplaceAll(strings.TrimPrefix(mantissa, "-"), ".", "")
	return len(strings.Trim(digits, "0"))
}
