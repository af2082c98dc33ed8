package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"wavegate/shared/testing/expect"
)

// one is a template of one table with global indexes, each written as name:key.
func one(t *testing.T, key string, indexes ...string) template {
	t.Helper()
	var made template
	expect.OK(t, json.Unmarshal([]byte(tableJSON(key, indexes...)), &made))
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
		"nothing":            {one(t, "id", "a:x"), one(t, "id", "a:x"), ""},
		"another order":      {one(t, "id", "a:x", "b:y"), one(t, "id", "b:y", "a:x"), ""},
		"one more":           {one(t, "id", "a:x"), one(t, "id", "a:x", "b:y"), ""},
		"one less":           {one(t, "id", "a:x"), one(t, "id"), ""},
		"two more":           {one(t, "id"), one(t, "id", "a:x", "b:y"), "T: +a, +b in one deploy"},
		"one for another":    {one(t, "id", "a:x"), one(t, "id", "b:x"), "T: -a, +b in one deploy"},
		"another key of one": {one(t, "id", "a:x"), one(t, "id", "a:y"), "the index a changes"},
		"another key":        {one(t, "id"), one(t, "other"), "makes a new, empty table"},
		"a new table":        {template{}, one(t, "id", "a:x", "b:y"), ""},
		"a table less":       {one(t, "id", "a:x", "b:y"), template{}, ""},
	} {
		got := strings.Join(refused(c.was, c.next), "\n")
		expect.That(t, (c.says == "") == (got == "") && strings.Contains(got, c.says),
			"%s: it says %q, want %q", name, got, c.says)
	}
}

// TestCheck_AsksForEachStackOfTheAssembly_WhereItLies: a stack that is not deployed yet may contain anything.
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
		err := check(t.Context(), dir, deployed{template: func(_ context.Context, stack, region string) ([]byte, error) {
			expect.That(t, stack == "wavegate-prod" && region == "eu-central-1", "it requests %s in %s", stack, region)
			if c.deployed == "" {
				return nil, nil
			}
			return []byte(c.deployed), nil
		}})
		if (c.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// published is a template of the data stack with one table and the parameter with its name.
func published(t *testing.T, id, name string, indexes ...string) template {
	t.Helper()
	made := one(t, "id", indexes...)
	table := made.Resources["T"]
	if name != "" {
		table.Properties.TableName = name
	}
	parameter := resource{Type: "AWS::SSM::Parameter"}
	parameter.Properties.Value = json.RawMessage(fmt.Sprintf(`{"Ref":%q}`, id))
	made.Resources = map[string]resource{id: table, "parameter": parameter}
	return made
}

// TestTaken_TableInPlaceOfAnother_ExistsAsTheTemplateHasIt: CloudFormation would import any table with that name, and make an
// empty one if there is none.
func TestTaken_TableInPlaceOfAnother_ExistsAsTheTemplateHasIt(t *testing.T) {
	was := published(t, "Old", "", "a:x")
	live := func(indexes ...string) table { return one(t, "id", indexes...).Resources["T"].Properties.table }
	for name, c := range map[string]struct {
		next template
		live table
		says string // empty: it may be deployed
	}{
		"the same":              {was, table{}, ""},
		"a restored one":        {published(t, "New", "restored", "a:x"), live("a:x"), ""},
		"one with no name":      {published(t, "New", "", "a:x"), table{}, "New: a new, empty table would replace Old"},
		"one that is not there": {published(t, "New", "restored", "a:x"), table{}, "New: this table does not exist"},
		"one without the index": {published(t, "New", "restored", "a:x"), live(), "New: its index a is missing or differs"},
		"another index":         {published(t, "New", "restored", "a:x"), live("a:y"), "New: its index a is missing or differs"},
		"one index more":        {published(t, "New", "restored", "a:x"), live("a:x", "b:y"), "New: it has an index b"},
		"other keys":            {published(t, "New", "restored", "a:x"), one(t, "other", "a:x").Resources["T"].Properties.table, "New: its keys"},
	} {
		names, got := taken(was, c.next)
		for id := range names {
			got = append(got, differs(id, c.live, c.next.Resources[id].Properties.table)...)
		}
		if text := strings.Join(got, "\n"); (c.says == "") != (text == "") || !strings.Contains(text, c.says) {
			t.Errorf("%s: it says %q, want %q", name, text, c.says)
		}
	}
}
