package main

import (
	"bytes"
	"strings"
	"testing"

	"wavegate/scripts/operator/verify"
	"wavegate/shared/production/chain"
)

func TestTell_Finding_IsCode1(t *testing.T) {
	links := []chain.Link{{SHA256: "aa"}, {SHA256: "bb"}}
	for name, c := range map[string]struct {
		report verify.Result
		code   int
		says   string
	}{
		"a chain":        {verify.Result{Links: links}, 0, "Links: 2; kept by machines and found: 3"},
		"with a finding": {verify.Result{Links: links, Findings: []string{"version 2: orders is not what the trail says"}}, 1, "version 2: orders"},
	} {
		var out bytes.Buffer
		if code := tell(&out, c.report, 3); code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: code %d, %s", name, code, out.String())
		}
	}
}

func TestRun_WrongArguments_AreCode2(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		token string
		says  string
	}{
		"no factory":       {[]string{"--method", "m"}, "t", "usage:"},
		"no method":        {[]string{"--factory", "f"}, "t", "usage:"},
		"no token":         {[]string{"--factory", "f", "--method", "m"}, "", "usage:"},
		"an unknown flag":  {[]string{"--verbose"}, "t", "usage:"},
		"a short hash":     {[]string{"--factory", "f", "--method", "m", "ab"}, "t", "HASH:VERSION:CONTENT"},
		"half of a triple": {[]string{"--factory", "f", "--method", "m", strings.Repeat("a", 64) + ":1"}, "t", "HASH:VERSION:CONTENT"},
	} {
		var out, problems bytes.Buffer
		if code := run(t.Context(), c.args, c.token, &out, &problems); code != 2 || !strings.Contains(problems.String(), c.says) {
			t.Errorf("%s: code %d, %s", name, code, problems.String())
		}
	}
}
