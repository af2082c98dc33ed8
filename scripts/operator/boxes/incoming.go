package boxes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
)

// A guest is a box of another server.
type guest struct {
	id, token  string
	kinds      []string // its tags and its type there
	version    string   // that it runs as that server says; empty: it does not say
	attributes map[string]string
}

// A room says which channel and organization boxes get that are of a kind, or one box; both empty: all others.
type room struct{ kind, id, channel, organization string }

// An arrival says how boxes of another server are registered.
type arrival struct {
	rooms   []room // the first that fits a box is its own
	above   int64  // the highest number of an action there
	weak    bool   // tokens that can be guessed may come
	trusted bool   // the other server knows what boxes run
	gateway string // the token of the gateway there; empty: boxes only call with their own
}

// roomOf finds the room of a box.
func (a arrival) roomOf(g guest) (room, bool) {
	for _, r := range a.rooms {
		if r.id == g.id && r.id != "" || r.id == "" && (r.kind == "" || slices.Contains(g.kinds, r.kind)) {
			return r, true
		}
	}
	return room{}, false
}

// plan makes the registrations of boxes, and lists what is wrong with others: each with its id, and all faults at once.
func (a arrival) plan(guests []guest) (boxes []boxLine, bad []string) {
	tokens := map[string]string{} // by its hash, the first box with a token
	for _, g := range guests {
		hash := hashOf(g.token)
		var faults []string
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Sprintf("%s: %s", g.id, fmt.Sprintf(format, args...)))
		}
		if !input.EdgeID.Accepts(g.id) {
			fault("its id must be %s", input.EdgeID.Says)
		}
		switch other, same := tokens[hash]; {
		case g.token == "":
			fault("it has no token")
		case same:
			fault("it has the token of %s; two boxes must not have one", other)
		case len(g.token) < boxtoken.LeastForeign && !a.weak:
			fault("its token has fewer than %d characters and can be guessed; give it another one there, or --weak", boxtoken.LeastForeign)
		}
		r, found := a.roomOf(g)
		if !found {
			fault("no channel: none is given for a box with %s", strings.Join(append(slices.Clone(g.kinds), "this id"), ", "))
		}
		if a.trusted && g.version != "" && !release.VersionRule.Accepts(g.version) {
			fault("it runs %q there; a version must be %s", g.version, release.VersionRule.Says)
		}
		if g.token != "" && tokens[hash] == "" {
			tokens[hash] = g.id
		}
		if bad = append(bad, faults...); len(faults) == 0 {
			boxes = append(boxes, a.registration(g, r, hash))
		}
	}
	return boxes, bad
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// registration registers a box in a room.
func (a arrival) registration(g guest, r room, hash string) boxLine {
	edgeType, channel, _ := api.ChannelName(r.channel)
	b := boxLine{
		fields: map[string]string{"edgeId": g.id, "edgeType": edgeType, "channel": channel, "organizationId": r.organization, "tokenSha256": hash},
		more:   map[string]any{},
	}
	if len(g.token) < boxtoken.LeastForeign {
		b.more["tokenWeak"] = true
	}
	if a.gateway != "" {
		b.more["tokenWaits"] = true
	}
	said := map[string]any{"actionsAbove": a.above}
	if a.trusted && g.version != "" {
		said["version"] = g.version
	}
	b.more["imported"] = said
	if len(g.attributes) > 0 {
		fitting := map[string]string{}
		for name, value := range g.attributes {
			fitting[report.NameOf(name)] = value
		}
		b.attributes = report.Fitting(fitting, nil)
	}
	return b
}

// roomsIn reads a file that says where boxes go.
func roomsIn(name string) (rooms []room, err error) {
	rows, err := columnsIn(name, "channel", "organizationId")
	for i, row := range rows {
		r := room{row["tag"], row["edgeId"], row["channel"], row["organizationId"]}
		if r.kind == "" && r.id == "" {
			return nil, run.Fail(run.Misused, "%s: row %d names neither a tag nor an edgeId", name, i+1)
		}
		rooms = append(rooms, r)
	}
	slices.SortStableFunc(rooms, func(a, b room) int { return strings.Compare(first(b.id), first(a.id)) }) // single boxes come first
	return rooms, err
}

func first(id string) string {
	if id != "" {
		return "1"
	}
	return ""
}
