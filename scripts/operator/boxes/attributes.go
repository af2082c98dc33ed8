package boxes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
)

// attributesIn reads attributes such as board=C; modem=LTE. In a text of several lines, each line is one. A JSON object holds any.
func attributesIn(text string) (map[string]string, error) {
	if strings.HasPrefix(text, "{") {
		return kept([]byte(text))
	}
	separator := ";"
	if strings.Contains(text, "\n") {
		separator = "\n"
	}
	return attributesOf(strings.Split(text, separator))
}

// attributesOf reads attributes such as board=C, and skips empty texts.
func attributesOf(texts []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		name, value, found := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !found {
			return nil, fmt.Errorf("%q is no attribute; write NAME=VALUE", text)
		}
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("the attribute %s is given twice", name)
		}
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return kept(text)
}

// kept reads attributes in JSON by the service's rule.
func kept(text []byte) (map[string]string, error) {
	all, faults := input.Parse(slices.Concat([]byte(`{"attributes":`), text, []byte("}")), report.SaidOf)
	for _, f := range faults {
		return nil, fmt.Errorf("%s %s", strings.TrimPrefix(f.Pointer, "/"), f.Detail)
	}
	return all, nil
}

// attributesText is the reverse of attributesIn.
func attributesText(all map[string]string) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.Contains(all[name], ";") {
			text, _ := json.Marshal(all) // texts can always be encoded
			return string(text)
		}
		texts = append(texts, name+"="+all[name])
	}
	return strings.Join(texts, "; ")
}
