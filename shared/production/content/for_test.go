package content_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/production/content"
	"wavegate/shared/testing/expect"
)

// at follows a pointer into a decoded content.
func at(t *rapid.T, tree any, pointer string) any {
	for _, name := range strings.Split(pointer, "/")[1:] {
		if list, is := tree.([]any); is {
			n := expect.Value(strconv.Atoi(name))(t)
			tree = list[n]
			continue
		}
		tree = tree.(map[string]any)[name]
	}
	return tree
}

// TestFor_PointsToWhatAMachineDoes compares the pointers with what a controller would find if it searched the content itself.
func TestFor_PointsToWhatAMachineDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawContent(t)
		c := must(t, encoded(drawn))
		machine, class := rapid.SampledFrom([]string{"m1", "m2", "any", "m9"}).Draw(t, "machine"), rapid.SampledFrom([]string{"washer", "other"}).Draw(t, "class")
		f := c.For(machine, func(s content.Stop) bool { return s.Class == class || slices.Contains(s.Machines, machine) })
		var tree any
		expect.Must(t, json.Unmarshal(c.Bytes(), &tree) == nil, "the bytes cannot be read")
		var steps, overrides, documents []any
		for _, s := range tree.(map[string]any)["steps"].([]any) {
			step := s.(map[string]any)
			equipment, _ := step["equipment"].(map[string]any)
			machines, _ := equipment["machines"].([]any)
			if equipment["class"] != class && !slices.Contains(machines, any(machine)) {
				continue
			}
			steps = append(steps, s)
			parameters, _ := step["parameters"].([]any)
			for _, p := range parameters {
				list, _ := p.(map[string]any)["overrides"].([]any)
				for _, o := range list {
					if o.(map[string]any)["machine"] == machine {
						overrides = append(overrides, o)
					}
				}
			}
			list, _ := step["documents"].([]any)
			documents = append(documents, list...)
		}
		for _, c := range []struct {
			pointers []string
			want     []any
		}{{f.Steps, steps}, {f.Parameters, overrides}, {f.Documents, documents}} {
			expect.Must(t, len(c.pointers) == len(c.want), "%d pointers, want %d: %v", len(c.pointers), len(c.want), c.pointers)
			for i, p := range c.pointers {
				expect.Equal(t, at(t, tree, p), c.want[i], "what %s points to", p)
			}
		}
	})
}

func TestFor_ADocumentOfAnotherMachine_IsNotForThisOne(t *testing.T) {
	c := parsed(t, with(t, "", ""))
	does := func(content.Stop) bool { return true }
	expect.Equal(t, c.For("m1", does), content.For{Steps: []string{"/steps/0", "/steps/1"}, Documents: []string{"/steps/0/documents/0"},
		Parameters: []string{"/steps/0/parameters/1/overrides/0", "/steps/0/parameters/2/overrides/0"}}, "what is for m1")
	expect.Equal(t, c.For("m2", does), content.For{Steps: []string{"/steps/0", "/steps/1"}, Parameters: []string{"/steps/0/parameters/0/overrides/0"}}, "what is for m2")
}
