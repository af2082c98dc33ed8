package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/zones"
	"wavegate/shared/testing/expect"
)

// pip makes a python3 that answers pip's commands with text.
func pip(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	expect.OK(t, os.WriteFile(filepath.Join(dir, "python3"), []byte("#!/bin/sh\n"+script), 0o755))
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

func TestCheck_WithoutANetwork_Passes(t *testing.T) {
	pip(t, "echo 'ERROR: No matching distribution found for tzdata' >&2; exit 1")
	expect.OK(t, check(time.Now()))
}

func TestLater_ListsNewerReleases_TheFirstOneFirst(t *testing.T) {
	pip(t, "echo 'tzdata (2027.2)'; echo 'Available versions: 2027.2, 2027.1, 2026.7, 2026.6, 2021.2.post0, 2020.1'; echo '  LATEST: 2099.1'")
	expect.Equal(t, expect.Value(later("2026f"))(t), []string{"2026.7", "2027.1", "2027.2"}, "later ones")
	expect.Equal(t, len(expect.Value(later("2027b"))(t)), 0, "after the newest")
}

func TestJudge_AReleaseThatIsLeft_FailsAfter60Days(t *testing.T) {
	published := time.Date(2026, 10, 28, 9, 0, 0, 0, time.UTC)
	warning, err := judge("2026z", published, published.AddDate(0, 0, 60))
	expect.That(t, err == nil && strings.Contains(warning, zones.Release()+", and 2026z was published on 2026-10-28"), "60 days: %q, %v", warning, err)
	_, err = judge("2026z", published, published.AddDate(0, 0, 61))
	expect.That(t, err != nil, "61 days pass")
}

// TestPack_WritesWhatTheProjectHas: the file is as this program writes it.
func TestPack_WritesWhatTheProjectHas(t *testing.T) {
	d := database{release: zones.Release(), zones: map[string][]byte{}}
	for _, name := range zones.Names() {
		text, _ := zones.Data(name)
		d.zones[name] = []byte(text)
	}
	was := expect.Value(os.ReadFile("../../../" + file))(t)
	expect.That(t, string(d.pack()) == string(was), "the file was written by other code")
}
