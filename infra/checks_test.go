package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

func TestCheck_AProdTemplateWithPoliciesOfDev_IsRefused(t *testing.T) {
	settings, err := ReadSettings(prodContext())
	expect.OK(t, err)
	for name, template := range prod().stacks {
		err := checkTemplate(write(t, template), settings)
		expect.That(t, err == nil, "%s as it is: %v", name, err)
	}
	err = checkTemplate(write(t, dev().stacks["wavegate-dev"]), settings)
	for _, table := range dynamo.Tables {
		expect.Error(t, err, dev().id(t, "AWS::DynamoDB::Table", "table-"+string(table.ID)), "of a prod stack that loses %s, it says", table.ID)
	}
}

func TestCheck_TooManyResources_AreRefused(t *testing.T) {
	full := template{Resources: map[string]resource{}}
	for n := range maxResources {
		full.Resources[fmt.Sprint("R", n)] = resource{Type: "AWS::CloudWatch::Alarm"}
	}
	expect.That(t, checkTemplate(write(t, full), Settings{Stage: Dev}) != nil, "%d resources pass", maxResources)
	delete(full.Resources, "R0")
	err := checkTemplate(write(t, full), Settings{Stage: Dev})
	expect.That(t, err == nil, "%v", err)
}

func TestCheck_ATemplateTooLarge_IsRefused(t *testing.T) {
	large := template{Resources: map[string]resource{"R": {Type: strings.Repeat("T", maxTemplate)}}}
	expect.That(t, checkTemplate(write(t, large), Settings{Stage: Dev}) != nil, "a template of a megabyte passes")
}

func TestCheck_FunctionsForAnotherProcessor_AreRefused(t *testing.T) {
	settings := Settings{Architecture: "arm64", Functions: t.TempDir()}
	header := func(machine byte) []byte { // a minimal ELF file
		b := make([]byte, 64)
		copy(b, "\x7fELF\x02\x01\x01")
		b[16], b[18], b[20], b[52], b[54], b[58] = 2, machine, 1, 64, 56, 64
		return b
	}
	const arm64, amd64 = 183, 62
	for _, f := range []struct {
		name    string
		machine byte
		zipped  bool // as in a release
		refused bool
	}{{"get-rollout", arm64, false, false}, {"put-edge", arm64, true, false}, {"put-factory", amd64, false, true}, {"get-edge", amd64, true, true}} {
		if f.zipped {
			expect.OK(t, os.WriteFile(filepath.Join(settings.Functions, f.name+".zip"), zipped(t, "bootstrap", header(f.machine)), 0o600))
		} else {
			putFile(t, filepath.Join(settings.Functions, f.name), "bootstrap", string(header(f.machine)), 0o600)
		}
		if err := checkPrograms(settings); (err != nil) != f.refused || err != nil && !strings.Contains(err.Error(), f.name) {
			t.Errorf("with %s: %v", f.name, err)
		}
		if f.refused {
			settings.Functions = t.TempDir()
		}
	}
}

// zipped is a zip of one file.
func zipped(t *testing.T, name string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	expect.OK(t, err)
	_, err = w.Write(text)
	expect.OK(t, errors.Join(err, z.Close()))
	return b.Bytes()
}

// write writes a template to a file.
func write(t *testing.T, template template) string {
	t.Helper()
	b := expect.Value(json.Marshal(template))(t)
	file := filepath.Join(t.TempDir(), "template.json")
	expect.OK(t, os.WriteFile(file, b, 0o600))
	return file
}
