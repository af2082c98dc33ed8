package main

import (
	"bytes"
	"strings"
	"testing"

	chain "wavegate/shared/production/trail"
)

func TestTell_FaultOrMissingHash_IsCode1(t *testing.T) {
	good := []chain.Link{{SHA256: "aa"}, {SHA256: "bb"}}
	for name, c := range map[string]struct {
		links []chain.Link
		kept  []string
		code  int
		says  string
	}{
		"a chain":                {good, nil, 0, "Links: 2; kept hashes found: 0 of 0"},
		"with a fragment":        {good, []string{"aa"}, 0, "found: 1 of 1"},
		"with another hash":      {good, []string{"aa", "cc"}, 1, "cc is not in the chain"},
		"with a broken link":     {[]chain.Link{{SHA256: "aa", Fault: "the event before it is missing"}}, nil, 1, "aa: the event before it is missing"},
		"no version, but a hash": {nil, []string{"aa"}, 1, "aa is not in the chain"},
	} {
		var out bytes.Buffer
		if code := tell(&out, c.links, c.kept); code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: code %d, %s", name, code, out.String())
		}
	}
}

func TestRun_WrongArguments_AreCode2(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		token string
	}{
		"no factory":      {[]string{"--method", "m"}, "t"},
		"no method":       {[]string{"--factory", "f"}, "t"},
		"no token":        {[]string{"--factory", "f", "--method", "m"}, ""},
		"an unknown flag": {[]string{"--verbose"}, "t"},
	} {
		var out, problems bytes.Buffer
		if code := run(t.Context(), c.args, c.token, &out, &problems); code != 2 || !strings.Contains(problems.String(), "usage:") {
			t.Errorf("%s: code %d, %s", name, code, problems.String())
		}
	}
}
