package unit

import "strings"

// corrections maps common misspellings, in lower case, to codes.
var corrections = map[string]string{
	"degc": "Cel", "celsius": "Cel", "degf": "[degF]", "kelvin": "K", "rpm": "/min", "rev/min": "/min",
	"micron": "um", "inch": "[in_i]", "in": "[in_i]", "ft": "[ft_i]", "mil": "[mil_i]", "psi": "[psi]",
	"lb": "[lb_av]", "lbs": "[lb_av]", "oz": "[oz_av]", "gram": "g", "cc": "cm3", "liter": "L", "litre": "L",
	"ppm": "[ppm]", "ppb": "[ppb]", "ph": "[pH]", "percent": "%", "pct": "%",
	"msec": "ms", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "mins": "min", "minute": "min", "minutes": "min",
	"hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d",
	"nm": "N.m", "knm": "kN.m", "ncm": "N.cm", "wh": "W.h", "kwh": "kW.h", "ah": "A.h", "mah": "mA.h",
	"ohm": "Ohm", "ohms": "Ohm", "volt": "V", "amp": "A",
	"piece": "{piece}", "pieces": "{piece}", "pcs": "{piece}", "pce": "{piece}", "each": "{piece}", "ea": "{piece}",
	"panel": "{panel}",
}

// letters maps characters to their spelling in UCUM.
var letters = strings.NewReplacer("µ", "u", "μ", "u", "°C", "Cel", "℃", "Cel", "°F", "[degF]", "°", "deg", "Ω", "Ohm", "Ω", "Ohm",
	"²", "2", "³", "3", "⁻¹", "-1", "·", ".", "⋅", ".", "*", ".", "×", ".", "‰", "[ppth]", "Å", "Ao", " ", "")

// hint returns the code that an invalid code probably means, or nothing.
func hint(code string) string {
	if better, ok := corrections[strings.ToLower(code)]; ok {
		return better
	}
	better := letters.Replace(code)
	// Try each part of a quotient.
	parts := strings.Split(better, "/")
	for i, part := range parts {
		if to, ok := corrections[strings.ToLower(part)]; ok && !strings.Contains(to, "/") {
			parts[i] = to
		}
	}
	if better = strings.Join(parts, "/"); better != code && Valid(better) {
		return better
	}
	return ""
}
