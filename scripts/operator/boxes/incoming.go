package boxes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
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
		hash := boxtoken.Hash(g.token)
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
		case !fits(g.id, g.token):
			fault("its token can never be the right one: %s; give it another one there", tokenForm)
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

// tokenForm says which tokens of another server a call can have.
const tokenForm = "it begins or ends with a blank, has a line break, is longer than 512 characters, or looks like a token of this service or a JWT"

// fits reports whether the service could find a box, or the gateway that speaks for it, by a token that a client sends as it is.
func fits(id, token string) bool {
	_, sent, _ := boxtoken.Credentials([]string{"TargetToken " + token})
	_, ok := boxtoken.Foreign(id, token)
	return (ok || !input.EdgeID.Accepts(id)) && sent == token && !strings.ContainsAny(token, "\r\n\x00")
}

// versionOf is the version that a box is registered with, and its edge type; empty: none.
func versionOf(b boxLine) (v version) {
	said, _ := b.more["imported"].(map[string]any)
	if text, _ := said["version"].(string); text != "" {
		v = version{b.fields["edgeType"], text}
	}
	return v
}

type version struct{ edgeType, text string }

// unreleased names the versions of boxes that are no releases of their edge types.
func unreleased(ctx context.Context, c *run.Call, boxes []boxLine) (bad []string, err error) {
	with := map[version][]string{}
	var order []version
	for _, b := range boxes {
		v := versionOf(b)
		if v.text != "" && with[v] == nil {
			order = append(order, v)
		}
		with[v] = append(with[v], b.fields["edgeId"])
	}
	for _, v := range order {
		switch _, err := c.Get(ctx, api.Path("/api/ota/releases/%s/%s", v.edgeType, v.text)); {
		case run.Missing(err):
			bad = append(bad, fmt.Sprintf("%s, which %s runs there, as %s, is no release of %s; publish it, or leave out --trust-installed",
				v.text, with[v][0], others(len(with[v])-1), v.edgeType))
		case err != nil:
			return nil, err
		}
	}
	return bad, nil
}

func others(n int) string { return fmt.Sprint("do ", n, terminal.Noun(n, " other", " others")) }

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

// roomsIn reads a file that says where boxes go. What it says of single boxes comes first.
func roomsIn(name string) ([]room, error) {
	rows, err := columnsIn(name, "channel", "organizationId")
	var single, others []room
	for i, row := range rows {
		r := room{row["tag"], row["edgeId"], row["channel"], row["organizationId"]}
		switch {
		case r.id != "":
			single = append(single, r)
		case r.kind != "":
			others = append(others, r)
		default:
			return nil, run.Fail(run.Misused, "%s: row %d names neither a tag nor an edgeId", name, i+1)
		}
	}
	return append(single, others...), err
}
