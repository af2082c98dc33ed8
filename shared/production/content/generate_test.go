package content_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

// drawContent draws a content without faults, as decoded by encoding/json. Identifiers come from a small set, so that
// two contents have many in common.
func drawContent(t *rapid.T) map[string]any {
	steps := []any{}
	for _, id := range ids(t, "steps", 6) {
		steps = append(steps, drawStep(t, id))
	}
	c := map[string]any{"form": 1.0, "basis": drawQuantity(t), "steps": steps}
	if rapid.Bool().Draw(t, "attributes") {
		c["attributes"] = map[string]any{"a": text(t), "b": text(t)}
	}
	return c
}

// ids draws different identifiers in any order. Some need escaping in a pointer.
func ids(t *rapid.T, label string, most int) []string {
	all := []string{"10", "20", "30", "time", "a.b", "x_y", "Z"}
	return rapid.Permutation(all).Draw(t, label)[:rapid.IntRange(0, most).Draw(t, label+" count")]
}

func text(t *rapid.T) string {
	return rapid.SampledFrom([]string{"P07", "a/b~c", "Ångström", "<&>", "\"quoted\"", "\U0001F527"}).Draw(t, "text")
}

func number(t *rapid.T) float64 {
	return float64(rapid.IntRange(-1000, 1000).Draw(t, "number")) / 8
}

func drawQuantity(t *rapid.T) map[string]any {
	return map[string]any{
		"quantity": float64(rapid.IntRange(1, 80).Draw(t, "quantity")) / 8,
		"unit":     rapid.SampledFrom([]string{"{piece}", "m", "g/L"}).Draw(t, "unit"),
	}
}

func drawStep(t *rapid.T, id string) map[string]any {
	s := map[string]any{"id": id, "name": text(t)}
	var machines []any
	switch rapid.IntRange(0, 2).Draw(t, "equipment") {
	case 0:
		s["equipment"] = map[string]any{"class": "washer"}
	case 1:
		machines = []any{"m1", "m2"}
		s["equipment"] = map[string]any{"machines": machines}
	}
	if rapid.Bool().Draw(t, "run") {
		s["setup"] = "PT5M"
		s["run"] = map[string]any{"time": rapid.SampledFrom([]string{"PT1M", "PT1H0.5S"}).Draw(t, "time"), "per": drawQuantity(t)}
	}
	list := func(name, key string, draw func(string) map[string]any) {
		if !rapid.Bool().Draw(t, name) {
			return
		}
		elements := []any{}
		for _, id := range ids(t, name, 4) {
			e := draw(id)
			e[key] = id
			elements = append(elements, e)
		}
		s[name] = elements
	}
	list("parameters", "id", func(string) map[string]any { return drawParameter(t, machines) })
	list("inputs", "material", func(string) map[string]any { return drawQuantity(t) })
	list("outputs", "material", func(string) map[string]any { return drawQuantity(t) })
	list("checks", "id", func(string) map[string]any {
		return map[string]any{"name": text(t), "max": number(t), "unit": "mm", "critical": rapid.Bool().Draw(t, "critical")}
	})
	list("documents", "title", func(string) map[string]any {
		return map[string]any{"url": "https://docs.example.com/a", "sha256": digest}
	})
	return s
}

func drawParameter(t *rapid.T, machines []any) map[string]any {
	p := map[string]any{}
	if rapid.Bool().Draw(t, "critical given") {
		p["critical"] = rapid.Bool().Draw(t, "critical")
	}
	machine := "m2"
	if len(machines) == 0 {
		machine = "any"
	}
	if rapid.Bool().Draw(t, "text") {
		p["text"] = text(t)
		if rapid.Bool().Draw(t, "overridden") {
			p["overrides"] = []any{map[string]any{"machine": machine, "text": text(t)}}
		}
		return p
	}
	if rapid.Bool().Draw(t, "curve") {
		p["points"], p["unit"], p["xUnit"] = drawPoints(t), "Cel", "min"
		return p
	}
	n := []float64{number(t), number(t), number(t), number(t)}
	override := n[3]
	slices.Sort(n[:3])
	p["min"], p["target"], p["max"], p["unit"] = n[0], n[1], n[2], "Cel"
	if override >= n[0] && override <= n[2] {
		p["overrides"] = []any{map[string]any{"machine": machine, "target": override}}
	}
	return p
}

// drawPoints draws a curve. Its x come from a small set, too.
func drawPoints(t *rapid.T) []any {
	at := rapid.Permutation([]float64{-0.125, 0, 7.5, 1e14, 3}).Draw(t, "points")[:rapid.IntRange(2, 5).Draw(t, "point count")]
	slices.Sort(at)
	list := []any{}
	for _, x := range at {
		y := number(t)
		point := map[string]any{"x": x, "y": y}
		if rapid.Bool().Draw(t, "band") {
			point["min"], point["max"] = y-1, y+1
		}
		list = append(list, point)
	}
	return list
}

func encoded(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprint("content: a drawn content cannot be encoded: ", err))
	}
	return text
}
