// Package unit checks unit codes by UCUM, the Unified Code for Units of Measure, in its case-sensitive form (ucum.org,
// version 2.2). It does not convert units.
package unit

import (
	"errors"
	"strings"
)

// MaxLength is the longest accepted code, in bytes.
const MaxLength = 40

// Check returns nil for a valid UCUM code, such as "Cel", "A/dm2", "10*3.mm" or "{piece}".
// Otherwise the text of the error continues the words "must be".
func Check(code string) error {
	if code == "" || len(code) > MaxLength {
		return errors.New("a UCUM code of 1 to 40 characters")
	}
	p := parser{rest: code}
	if p.main() && p.rest == "" && !(p.special && p.parts > 1) {
		return nil
	}
	if better := hint(code); better != "" {
		return errors.New("a UCUM code; did you mean " + better + "?")
	}
	if p.special && p.parts > 1 && p.rest == "" {
		return errors.New("a UCUM code; units such as Cel, [pH] and dB cannot be part of a product or quotient (K/min is a rate of temperature)")
	}
	return errors.New("a UCUM code such as Cel, mm, A/dm2, /min, % or {piece}; see ucum.org")
}

// Valid reports whether Check returns nil.
func Valid(code string) bool { return Check(code) == nil }

// A parser reads a code from the left. Each method consumes the element in its name and reports whether it was there.
type parser struct {
	rest string
	// parts counts the factors, symbols and annotations. special reports whether a symbol has no
	// ratio scale, such as Cel. Such a unit must be the only symbol (UCUM §21).
	parts   int
	special bool
}

func (p *parser) take(c byte) bool {
	if p.rest != "" && p.rest[0] == c {
		p.rest = p.rest[1:]
		return true
	}
	return false
}

// main parses a term, with an optional solidus before it.
func (p *parser) main() bool {
	if p.take('/') {
		p.parts++ // one divided by the term
	}
	return p.term()
}

// term parses one component, or several separated by . or /.
func (p *parser) term() bool {
	for {
		if !p.component() {
			return false
		}
		if !p.take('.') && !p.take('/') {
			return true
		}
	}
}

// component parses an annotation; or a term in parentheses or a symbol, either with an optional annotation.
func (p *parser) component() bool {
	if p.take('{') {
		p.parts++
		return p.annotation()
	}
	if p.take('(') {
		if !p.term() || !p.take(')') {
			return false
		}
	} else if !p.symbol() {
		return false
	}
	return !p.take('{') || p.annotation()
}

// annotation parses what follows an opening brace: printable ASCII without spaces and braces, and a closing brace.
func (p *parser) annotation() bool {
	end := strings.IndexAny(p.rest, "{}")
	if end < 0 || p.rest[end] == '{' || !printable(p.rest[:end]) {
		return false
	}
	p.rest = p.rest[end+1:]
	return true
}

func printable(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c < '!' || c > '~' })
}

// symbol parses a whole number, or an atom with an optional prefix and exponent.
func (p *parser) symbol() bool {
	p.parts++
	end := symbolEnd(p.rest)
	word := p.rest[:end]
	p.rest = p.rest[end:]
	if word == "" {
		return false
	}
	if strings.HasPrefix(word, "10*") || strings.HasPrefix(word, "10^") {
		return word[3:] == "" || isExponent(word[3:])
	}
	if digits(word) == len(word) {
		return word[0] != '0'
	}
	atom := strings.TrimRight(word, "0123456789")
	if atom != word {
		atom = strings.TrimSuffix(strings.TrimSuffix(atom, "+"), "-")
		if atom == "" || !isExponent(word[len(atom):]) {
			return false
		}
		p.parts++ // a power is a product
	}
	known, special := isUnit(atom)
	p.special = p.special || special
	return known
}

// symbolEnd returns the end of a symbol: an operator, a parenthesis or a brace. Inside square brackets these are part
// of the symbol, as in B[10.nV].
func symbolEnd(text string) int {
	inBrackets := false
	for i := range len(text) {
		switch text[i] {
		case '[':
			inBrackets = true
		case ']':
			inBrackets = false
		case '.', '/', '(', ')', '{', '}':
			if !inBrackets {
				return i
			}
		}
	}
	return len(text)
}

func digits(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}

// isExponent reports whether a text is a whole number other than 0, with an optional sign.
func isExponent(text string) bool {
	if text[0] == '+' || text[0] == '-' {
		text = text[1:]
	}
	return text != "" && text[0] != '0' && digits(text) == len(text)
}

// isUnit reports whether a symbol is an atom, or a prefix and an atom that can have one. It also
// reports whether the atom has no ratio scale.
func isUnit(symbol string) (known, special bool) {
	if kind, ok := atoms()[symbol]; ok {
		return true, kind.special
	}
	for length := 1; length <= 2 && length < len(symbol); length++ {
		if kind := atoms()[symbol[length:]]; kind.metric && prefixes[symbol[:length]] {
			return true, kind.special
		}
	}
	return false, false
}
