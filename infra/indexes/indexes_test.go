package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// table is a template of one table with global indexes, each written as name:key.
func table(t *testing.T, key string, indexes ...string) template {
	t.Helper()
	var made template
	if err := json.Unmarshal([]byte(tableJSON(key, indexes...)), &made); err != nil {
		t.Fatal(err)
	}
	return made
}

func tableJSON(key string, indexes ...string) string {
	var list []string
	for _, index := range indexes {
		name, key, _ := strings.Cut(index, ":")
		list = append(list, fmt.Sprintf(`{"IndexName":%q,"KeySchema":[{"AttributeName":%q}],"Projection":{"ProjectionType":"ALL"}}`, name, key))
	}
	return fmt.Sprintf(`{"Resources":{"T":{"Type":"AWS::DynamoDB::Table","Properties":{"KeySchema":[{"AttributeName":%q}],"GlobalSecondaryIndexes":[%s]}}}}`,
		key, strings.Join(list, ","))
}

func TestRefused_OneIndexADeploy(t *testing.T) {
	for name, c := range map[string]struct {
		was, next template
		says      string // empty: it may be deployed
	}{
		"nothing":            {table(t, "id", "a:x"), table(t, "id", "a:x"), ""},
		"another order":      {table(t, "id", "a:x", "b:y"), table(t, "id", "b:y", "a:x"), ""},
		"one more":           {table(t, "id", "a:x"), table(t, "id", "a:x", "b:y"), ""},
		"one less":           {table(t, "id", "a:x"), table(t, "id"), ""},
		"two more":           {table(t, "id"), table(t, "id", "a:x", "b:y"), "T: +a, +b in one deploy"},
		"one for another":    {table(t, "id", "a:x"), table(t, "id", "b:x"), "T: -a, +b in one deploy"},
		"another key of one": {table(t, "id", "a:x"), table(t, "id", "a:y"), "the index a changes"},
		"another key":        {table(t, "id"), table(t, "other"), "makes a new, empty table"},
		"a new table":        {template{}, table(t, "id", "a:x", "b:y"), ""},
		"a table less":       {table(t, "id", "a:x", "b:y"), template{}, ""},
	} {
		got := strings.Join(refused(c.was, c.next), "\n")
		if (c.says == "") != (got == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: it says %q, want %q", name, got, c.says)
		}
	}
}

// TestCheck_AsksForEachStackOfTheAssembly_WhereItLies: a stack that is not deployed yet may have everything.
func TestCheck_AsksForEachStackOfTheAssembly_WhereItLies(t *testing.T) {
	dir := fstest.MapFS{
		"manifest.json": {Data: []byte(`{"artifacts":{
			"wavegate-prod":{"type":"aws:cloudformation:stack","environment":"aws://111122223333/eu-central-1","properties":{"templateFile":"data.json"}},
			"wavegate-prod.assets":{"type":"cdk:asset-manifest"}}}`)},
		"data.json": {Data: []byte(tableJSON("id", "a:x", "b:y"))},
	}
	for name, c := range map[string]struct {
		deployed string
		says     string
	}{
		"not deployed": {"", ""},
		"the same":     {tableJSON("id", "a:x", "b:y"), ""},
		"two behind":   {tableJSON("id"), "wavegate-prod: T: +a, +b"},
	} {
		err := check(t.Context(), dir, func(_ context.Context, stack, region string) ([]byte, error) {
			if stack != "wavegate-prod" || region != "eu-central-1" {
				t.Errorf("it asks for %s in %s", stack, region)
			}
			if c.deployed == "" {
				return nil, nil
			}
			return []byte(c.deployed), nil
		})
		if (c.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
