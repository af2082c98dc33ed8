package unit

import (
	_ "embed"
	"strings"
	"sync"
)

// namesText has the names of the symbols that people use, and mistakenText the codes that are often a mistake: what each is a unit
// of, and the code that is probably meant, with what that is a unit of.
//
//go:embed names.tsv
var namesText string

//go:embed mistaken.tsv
var mistakenText string

// rows reads a table, by its first column.
func rows(text string) map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		table[cells[0]] = cells[1:]
	}
	return table
}

var (
	named    = sync.OnceValue(func() map[string][]string { return rows(namesText) })
	mistaken = sync.OnceValue(func() map[string][]string { return rows(mistakenText) })
)

// A Mistake is a valid code that is often a mistake.
type Mistake struct {
	Quantity string // that the code is a unit of, such as electric charge
	Meant    string // the code that is probably meant
	MeantFor string // what that is a unit of
}

// Mistaken returns what people probably mean by a valid code; false if they mean the code.
func Mistaken(code string) (Mistake, bool) {
	cells, is := mistaken()[code]
	if !is {
		return Mistake{}, false
	}
	return Mistake{cells[0], cells[1], cells[2]}, true
}

var prefixNames = map[string]string{
	"Y": "yotta", "Z": "zetta", "E": "exa", "P": "peta", "T": "tera", "G": "giga", "M": "mega", "k": "kilo", "h": "hecto", "da": "deca",
	"d": "deci", "c": "centi", "m": "milli", "u": "micro", "n": "nano", "p": "pico", "f": "femto", "a": "atto", "z": "zepto", "y": "yocto",
	"Ki": "kibi", "Mi": "mebi", "Gi": "gibi", "Ti": "tebi",
}

// Name is the full name of a valid code, such as degree Celsius, or ampere per square decimeter. What has no name is shown as it is.
func Name(code string) string {
	if strings.ContainsRune(code, '(') {
		return code
	}
	var words []string
	for rest, per := code, ""; rest != ""; {
		if rest[0] == '/' || rest[0] == '.' {
			per = map[byte]string{'/': "per"}[rest[0]]
			rest = rest[1:]
			continue
		}
		end := symbolEnd(rest)
		symbol, note := rest[:end], ""
		if rest = rest[end:]; rest != "" && rest[0] == '{' {
			end := strings.IndexByte(rest, '}')
			note, rest = rest[1:end], rest[end+1:]
		}
		for _, word := range []string{per, nameOf(symbol), note} {
			if word != "" {
				words = append(words, word)
			}
		}
		per = ""
	}
	return strings.Join(words, " ")
}

// nameOf is the name of a symbol with its exponent.
func nameOf(symbol string) string {
	if strings.HasPrefix(symbol, "10*") || strings.HasPrefix(symbol, "10^") || digits(symbol) > 0 {
		return symbol
	}
	atom := strings.TrimRight(symbol, "0123456789")
	exponent := symbol[len(atom):]
	if signed := strings.TrimRight(atom, "+-"); signed != atom && exponent != "" {
		return symbol
	}
	name := nameOfAtom(atom)
	switch exponent {
	case "", "1":
		return name
	case "2":
		return "square " + name
	case "3":
		return "cubic " + name
	}
	return name + " to the power of " + exponent
}

func nameOfAtom(atom string) string {
	if cells := named()[atom]; cells != nil {
		return cells[0]
	}
	for length := 1; length <= 2 && length < len(atom); length++ {
		if cells := named()[atom[length:]]; cells != nil && prefixes[atom[:length]] && atoms()[atom[length:]].metric {
			return prefixNames[atom[:length]] + cells[0]
		}
	}
	return atom
}
