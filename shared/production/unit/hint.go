package unit

import (
	"regexp"
	"strings"
)

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
	"torr":  "mm[Hg]", "mtorr": "um[Hg]", "mmhg": "mm[Hg]", "inhg": "[in_i'Hg]", "inh2o": "[in_i'H2O]", "mmh2o": "mm[H2O]",
	"barg": "bar{gauge}", "bar(g)": "bar{gauge}", "bara": "bar{absolute}", "bar(a)": "bar{absolute}", "mbarg": "mbar{gauge}",
	"psig": "[psi]{gauge}", "psia": "[psi]{absolute}", "ksi": "[psi].10*3",
	"sccm": "cm3{standard}/min", "slm": "L{standard}/min", "slpm": "L{standard}/min", "lpm": "L/min", "gpm": "[gal_us]/min", "cfm": "[cft_i]/min",
	"fpm": "[ft_i]/min", "ipm": "[in_i]/min", "mph": "[mi_i]/h", "kph": "km/h",
	"%rh": "%{relative-humidity}", "rh": "%{relative-humidity}", "rh%": "%{relative-humidity}", "wt%": "%{weight}", "%wt": "%{weight}", "%w/w": "%{weight}",
	"vol%": "%{volume}", "%vol": "%{volume}", "%v/v": "%{volume}", "%w/v": "g/dL", "mol%": "%{mole}", "bx": "%{Brix}", "degbx": "%{Brix}", "brix": "%{Brix}",
	"degp": "%{Plato}", "plato": "%{Plato}", "va": "V.A", "kva": "kV.A", "var": "V.A{reactive}", "hrc": "{HRC}", "hrb": "{HRB}", "hv": "{HV}", "hb": "{HB}", "hbw": "{HBW}",
	"shorea": "{Shore-A}", "ibu": "{IBU}", "ebc": "{EBC}", "ntu": "[NTU]", "cfu": "[CFU]", "iu": "[iU]", "gal": "[gal_us]", "gallon": "[gal_us]", "gallons": "[gal_us]",
	"qt": "[qt_us]", "yd": "[yd_i]", "thou": "[mil_i]", "mils": "[mil_i]", "lbf": "[lbf_av]", "lbft": "[lbf_av].[ft_i]", "ftlb": "[ft_i].[lbf_av]", "ft-lb": "[ft_i].[lbf_av]",
	"ft.lb": "[ft_i].[lbf_av]", "ft-lbf": "[ft_i].[lbf_av]", "inlb": "[in_i].[lbf_av]", "in-lb": "[in_i].[lbf_av]", "btu": "[Btu_IT]", "hp": "[HP]", "kn": "kN",
	"tonne": "t", "tonnes": "t", "ton": "t", "metre": "m", "meter": "m", "hertz": "Hz", "watt": "W", "watts": "W", "volts": "V", "amps": "A", "ampere": "A", "newton": "N",
	"pascal": "Pa", "bars": "bar", "w/mk": "W/m/K", "j/kgk": "J/kg/K", "degrees": "deg", "cycles": "{cycle}", "cycle": "{cycle}", "turns": "{turn}", "rev": "{turn}",
	"pulses": "{pulse}", "strokes": "{stroke}", "shots": "{shot}", "x": "{times}",
}

// letters maps characters to their spelling in UCUM.
var letters = strings.NewReplacer("µ", "u", "μ", "u", "°C", "Cel", "℃", "Cel", "°F", "[degF]", "°", "deg", "Ω", "Ohm", "Ω", "Ohm",
	"²", "2", "³", "3", "⁻¹", "-1", "·", ".", "⋅", ".", "*", ".", "×", ".", "‰", "[ppth]", "Å", "Ao", " ", "")

// power is a power as programs write it.
var power = regexp.MustCompile(`([A-Za-z\])])\^([-+]?[1-9])`)

// hint returns the code that an invalid code probably means, or nothing.
func hint(code string) string {
	if better, ok := corrections[strings.ToLower(code)]; ok {
		return better
	}
	better := power.ReplaceAllString(letters.Replace(code), "$1$2")
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
