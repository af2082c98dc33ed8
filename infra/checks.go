package main

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxResources is how many resources the stack may have. CloudFormation takes 500; the rest is room
// to divide the stack in peace.
const maxResources = 430

// maxTemplate is how many bytes a template may have. CloudFormation takes a megabyte.
const maxTemplate = 1_000_000

// stateful are the types of resources that hold what a deploy cannot make again.
var stateful = []string{"AWS::DynamoDB::Table", "AWS::Cognito::UserPool", "AWS::Logs::LogGroup"}

// checkTemplate refuses a synthesised template that must not be deployed, whatever code made it: one that
// would lose data of a stage that keeps it, or that grew too large. All faults are reported.
func checkTemplate(path string, settings Settings) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var template struct {
		Resources map[string]struct {
			Type                string
			DeletionPolicy      string
			UpdateReplacePolicy string
		}
	}
	if err := json.Unmarshal(b, &template); err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	var faults []string
	if len(b) >= maxTemplate {
		faults = append(faults, fmt.Sprintf("the template has %d bytes, and %d are too many", len(b), maxTemplate))
	}
	if n := len(template.Resources); n >= maxResources {
		faults = append(faults, fmt.Sprintf("the stack has %d resources, and %d are too many", n, maxResources))
	}
	for _, id := range slices.Sorted(maps.Keys(template.Resources)) {
		r := template.Resources[id]
		if settings.Keeps() && slices.Contains(stateful, r.Type) && (r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain") {
			faults = append(faults, fmt.Sprintf("%s (%s) would be lost with its stack; in prod it is kept", id, r.Type))
		}
	}
	if len(faults) > 0 {
		return errors.New("the template must not be deployed:\n  " + strings.Join(faults, "\n  "))
	}
	return nil
}

// checkPrograms refuses functions that were built for another processor than they will run on: the
// build and the setting are told apart by nothing else, and the mistake would show at the first call.
func checkPrograms(settings Settings) error {
	want := map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}[settings.Architecture]
	programs, err := filepath.Glob(filepath.Join(settings.Functions, "*", "bootstrap"))
	if err != nil {
		return err
	}
	for _, p := range programs {
		f, err := elf.Open(p)
		if err != nil {
			continue // no program: scripts/synth puts a text there
		}
		machine := f.Machine
		f.Close()
		if machine != want {
			return fmt.Errorf("%s was built for %v, and the setting architecture is %s; build with ARCH=amd64 or ARCH=arm64", p, machine, settings.Architecture)
		}
	}
	return nil
}
