package main

import (
	"iter"
	"slices"

	yaml "github.com/oasdiff/yaml3"
)

// entries yields the keys and values of a mapping, and nothing of any other node.
func entries(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// get returns the value of a key, or nil.
func get(mapping *yaml.Node, key string) *yaml.Node {
	for k, value := range entries(mapping) {
		if k.Value == key {
			return value
		}
	}
	return nil
}

// child returns the value of a key, which is made if it is not there.
func child(mapping *yaml.Node, key string, kind yaml.Kind) *yaml.Node {
	if value := get(mapping, key); value != nil {
		return value
	}
	value := &yaml.Node{Kind: kind}
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	return value
}

func remove(mapping *yaml.Node, key string) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
			return
		}
	}
}
