package main

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxResources is how many resources a stack may have. CloudFormation takes 500; the difference leaves time to divide the
// stack.
const maxResources = 430

// maxTemplate is how many bytes a template may have. CloudFormation takes a megabyte.
const maxTemplate = 1_000_000

// stateful are the types of resources whose content a deploy cannot make again.
var stateful = []string{"AWS::DynamoDB::Table", "AWS::Cognito::UserPool", "AWS::Logs::LogGroup", "AWS::S3::Bucket", "AWS::CloudFront::Distribution"}

// checkTemplate refuses a synthesised template that would lose data of a deployment that keeps it, or that is too large.
// It reports all faults.
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
		faults = append(faults, fmt.Sprintf("the template has %d bytes; it must have fewer than %d", len(b), maxTemplate))
	}
	if n := len(template.Resources); n >= maxResources {
		faults = append(faults, fmt.Sprintf("the stack has %d resources; it must have fewer than %d", n, maxResources))
	}
	for _, id := range slices.Sorted(maps.Keys(template.Resources)) {
		r := template.Resources[id]
		if settings.Keeps() && slices.Contains(stateful, r.Type) && (r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain") {
			faults = append(faults, fmt.Sprintf("%s (%s) would be deleted with its stack; with keep, it must be retained", id, r.Type))
		}
	}
	if len(faults) > 0 {
		return errors.New("the template must not be deployed:\n  " + strings.Join(faults, "\n  "))
	}
	return nil
}

// checkPrograms refuses functions that were built for another processor than the setting architecture. Otherwise only the
// first call would reveal the mistake.
func checkPrograms(settings Settings) error {
	want := map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}[settings.Architecture]
	entries, err := os.ReadDir(settings.Functions)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".zip")
		head, err := settings.head(name, "bootstrap")
		if err != nil || !bytes.HasPrefix(head, []byte(elf.ELFMAG)) || len(head) < header {
			continue // not a program: scripts/synth writes a text there
		}
		if machine := elf.Machine(binary.LittleEndian.Uint16(head[header-2:])); machine != want {
			return fmt.Errorf("%s was built for %v, and the setting architecture is %s; build with ARCH=amd64 or ARCH=arm64", name, machine, settings.Architecture)
		}
	}
	return nil
}

// header is how many bytes of a program say its processor; the last two do.
const header = 20

// head reads the first bytes of a file of a built function: of its directory, or of its zip in a release.
func (s Settings) head(function, file string) ([]byte, error) {
	files := os.DirFS(filepath.Join(s.Functions, function))
	if z, err := zip.OpenReader(filepath.Join(s.Functions, function+".zip")); err == nil {
		defer func() { _ = z.Close() }() // it was only read
		files = z
	}
	f, err := files.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, header))
}
