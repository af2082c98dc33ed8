package zones_test

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"wavegate/shared/platform/zones"
	"wavegate/shared/testing/expect"
)

// TestLoad_KnowsEachZoneOfTheDatabase, and no other: a zone that only some machines know would keep a plant closed.
func TestLoad_KnowsEachZoneOfTheDatabase(t *testing.T) {
	names := zones.Names()
	expect.That(t, len(names) > 500 && slices.IsSorted(names), "there are %d zones", len(names))
	for _, name := range names {
		zone := expect.Value(zones.Load(name))(t)
		expect.Equal(t, zone.String(), name, "the name")
	}
	for _, name := range []string{"", "Local", "localtime", "posix/Europe/Paris", "Europe", "Europe/Paris ", "Europe/Paris\n", "Africa/Abidjan 0", "../UTC", "Factory"} {
		_, err := zones.Load(name)
		expect.That(t, err != nil, "%q is known", name)
	}
	expect.That(t, regexp.MustCompile(`^20[0-9]{2}[a-z]$`).MatchString(zones.Release()), "the release is %q", zones.Release())
}

// TestLoad_OfAMachineWithAnotherDatabase_GivesTheProjects: Go's own search would look there first.
func TestLoad_OfAMachineWithAnotherDatabase_GivesTheProjects(t *testing.T) {
	t.Setenv("ZONEINFO", t.TempDir())
	zone := expect.Value(zones.Load("Asia/Kolkata"))(t)
	expect.Equal(t, time.Date(2026, 1, 1, 0, 0, 0, 0, zone).UTC().Format(time.TimeOnly), "18:30:00", "midnight in India")
}
