package input

import (
	"time"
)

// These rules are shared by several packages.
var (
	// Name is the rule of names that programs use: edge types, channels, machine codes and organization ids.
	Name = &Text{
		Pattern: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`,
		Says:    "1 to 64 letters, digits, dots, underscores or hyphens, the first a letter or digit",
	}
	// EdgeID is the rule of the ids of boxes. It accepts what fleets have, such as MAC addresses and serial numbers.
	EdgeID = &Text{
		Pattern: `[A-Za-z0-9][A-Za-z0-9._:-]{0,127}`,
		Says:    "1 to 128 letters, digits, dots, underscores, hyphens or colons, the first a letter or digit",
	}
	// Slug is the rule of factory ids.
	Slug = &Text{
		Pattern: `[a-z0-9][a-z0-9-]{0,62}`,
		Says:    "1 to 63 lower-case letters, digits or hyphens, the first a letter or digit",
	}
	// DisplayName is the rule of names for people, of a factory, a machine or a production
	// method.
	DisplayName = &Text{
		Min: 1, Max: 200, Trim: true, Check: Visible,
		Says: "1 to 200 characters without control characters and invisible characters",
	}
	// ID is the rule of identifiers that other systems choose: issuers, users, resources of any type.
	ID = &Text{Pattern: `[ -~]{1,512}`, Says: "1 to 512 printable ASCII characters"}
	// UUID is the rule of a UUID of any version. It is stored in lower case (RFC 9562 §4).
	UUID = &Text{
		Pattern: `[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`,
		Lower:   true,
		Says:    "a UUID such as 0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a",
	}
	// SHA256 is the rule of a digest in upper or lower case. It is stored in lower case.
	SHA256 = &Text{Pattern: `[0-9A-Fa-f]{64}`, Lower: true, Says: "64 hexadecimal digits"}
	// Time is the rule of times: RFC 3339 with a time zone. The date must exist. Leap seconds
	// are refused, because no clock of the service has them.
	Time = &Text{
		Pattern: `[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})`,
		Max:     64,
		Check:   isTime,
		Says:    "a time with a zone such as 2026-03-01T12:00:00Z or 2026-03-01T13:00:00.250+01:00 (RFC 3339; in a query, + is sent as %2B)",
	}
)

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// ParseTime returns the instant of a text that Time accepts, in UTC, and the zero time for any
// other text.
func ParseTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}
