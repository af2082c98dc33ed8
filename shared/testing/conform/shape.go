package conform

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// shapeOf is an exchange without its values: the names of query parameters, headers and fields, the media types, the
// status, and the whole text of a refusal.
func shapeOf(x Exchange) string {
	_, rawQuery, _ := strings.Cut(x.Target, "?")
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return x.Target
	}
	shape := fmt.Sprint(slices.Sorted(maps.Keys(query)), names(x.Header), skeleton(x.Body), x.Status, names(x.Answer), skeleton(x.AnswerBody))
	if x.Status >= http.StatusBadRequest {
		var p struct {
			Detail string
			Errors []any
		}
		_ = json.Unmarshal(x.AnswerBody, &p) // what is not a problem has a skeleton of its own
		shape += fmt.Sprint(p)
	}
	return shape
}

func names(h http.Header) string {
	return fmt.Sprint(slices.Sorted(maps.Keys(h)), h.Get("Content-Type"))
}

// skeleton is a JSON value with each value replaced by its type, or the size if the text is not JSON.
func skeleton(body []byte) string {
	if len(body) == 0 {
		return "none"
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return fmt.Sprint("no JSON, ", len(body))
	}
	b, err := json.Marshal(bones(v))
	if err != nil { // what was read can be written
		panic(err)
	}
	return string(b)
}

func bones(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for name, value := range v {
			m[name] = bones(value)
		}
		return m
	case []any:
		if len(v) == 0 {
			return v
		}
		// The items of a list are alike; their number does not matter.
		kinds := map[string]bool{}
		for _, value := range v {
			b, _ := json.Marshal(bones(value))
			kinds[string(b)] = true
		}
		all := []json.RawMessage{} // as a text, each would be escaped once more on each level
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			all = append(all, json.RawMessage(kind))
		}
		return all
	}
	return fmt.Sprintf("%T", v)
}
