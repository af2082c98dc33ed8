package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
)

// Shards is how many partitions of the index hold the rows of one release channel. An index key takes about 1,000
// writes a second, and a box with a new state makes two. So 32 partitions take 16,000 boxes a second: a million offers
// within the minute in which a fleet polls. See setting.ReportShards; see Moved for how to add partitions.
type Shards int

// ReadShards reads the setting.
func ReadShards(r *setting.Values) Shards { return Shards(r.Number(setting.ReportShards)) }

// Of is the partition of a box's row: its release channel, written edgeType/channel, and a number.
func (n Shards) Of(pair, edgeID string) string {
	sum := sha256.Sum256([]byte(edgeID))
	return n.At(pair, int(sum[4])%int(n))
}

// Moved returns the partition that a stored row belongs in, and whether it is in another one. That is so for rows
// written while there were fewer partitions. They are found anyway.
func (n Shards) Moved(stored map[string]types.AttributeValue) (shard string, moved bool, err error) {
	var row item
	if err := dynamo.Decode(dynamo.Reports, stored, &row); err != nil {
		return "", false, err
	}
	shard = n.Of(row.pair(), boxOf(row.EdgeID))
	return shard, shard != row.Shard, nil
}

// At is one of the partitions of a release channel's rows; i is from 0 to n-1.
func (n Shards) At(pair string, i int) string { return fmt.Sprintf("%s#%02d", pair, i) }

// An IndexEntry is a row in the index.
type IndexEntry struct {
	EdgeID    string
	Version   string // that was offered, or the target if that is a stone; empty: none was
	State     State  // empty without an offer
	Stage     int
	Hash      string // random for each box: the boxes with the smallest hashes are a random sample
	RolloutID string
	Code      FailureCode
	Since     time.Time // of the state; zero without an offer
	Running   string
	FactoryID string
	// OrganizationID is the organization that the box belongs to.
	OrganizationID string
	// RegisteredAt is when the box was registered first, in whole seconds; zero: before that was noted.
	RegisteredAt time.Time
	// AsideSince is since when the box is pinned or held, in whole seconds; zero: it is not. PinnedUntil is when the pin
	// ends; zero: it is held. See Aside.
	AsideSince, PinnedUntil time.Time
	// Restless is set if the box is restless since AsideSince, and neither pinned nor held.
	Restless bool
	// Unproven is set if nobody knows what the box runs, which comes from another server since AsideSince.
	Unproven    bool
	Mislabelled Form // see Row.Mislabelled
	Frequent    bool // see Row.Often
	// Trace is set for what a box did before its registration changed; see trace. TraceID is then the key of that item.
	Trace   bool
	TraceID string
}

// FirstAt is when the box was registered first, in whole seconds; zero: before that was noted.
func (r Row) FirstAt() (at time.Time) {
	if r.RegisteredAt != nil {
		at = r.RegisteredAt.Truncate(time.Second)
	}
	return at
}

// Entry returns the row's index entry.
func (r Row) Entry() IndexEntry {
	e := IndexEntry{EdgeID: r.EdgeID, Hash: hash(r.EdgeID), Running: r.Running, Mislabelled: r.Mislabelled(), Frequent: r.Often() != nil,
		FactoryID: r.FactoryID, OrganizationID: r.OrganizationID, RegisteredAt: r.FirstAt()}
	switch {
	case r.Unproven():
		e.AsideSince, e.Unproven = upToSecond(r.Imported.Since), true
	case r.HeldAt != nil:
		e.AsideSince = upToSecond(*r.HeldAt)
	case r.Pin != nil:
		e.AsideSince, e.PinnedUntil = upToSecond(r.Pin.At), r.Pin.Until.Truncate(time.Second)
	case r.Restless != nil:
		e.AsideSince, e.Restless = upToSecond(r.Restless.Since), true
	}
	if r.Offer != nil {
		o := r.Counted()
		o.Version = cmp.Or(r.towards(), o.Version)
		e.Version, e.State, e.Stage, e.RolloutID, e.Code, e.Since = o.Version, o.State, o.Stage, o.RolloutID, o.Code, o.Since
	}
	return e
}

// Place is a box's place in a random order of all boxes: the first 4 bytes, big-endian, of the SHA-256 of its id.
func Place(edgeID string) uint32 {
	sum := sha256.Sum256([]byte(edgeID))
	return binary.BigEndian.Uint32(sum[:4])
}

// hash is the place as a text in the same order.
func hash(edgeID string) string { return fmt.Sprintf("%08x", Place(edgeID)) }

// The parts of a stateKey are joined by separator, which none of them contains. absent replaces the version and the
// state of a row without an offer; no version begins like that.
const (
	separator = "#"
	absent    = "-"
)

// Aside reports whether the box was pinned, held or unproven at a time, as far as its last call showed.
func (e IndexEntry) Aside(at time.Time) bool {
	return !e.AsideSince.IsZero() && !e.Restless && (e.PinnedUntil.IsZero() || at.Before(e.PinnedUntil))
}

// upToSecond rounds up, so that a pin never seems older than it is.
func upToSecond(at time.Time) time.Time { return at.Add(time.Second - 1).Truncate(time.Second) }

// aside is how a sort key says that a box is pinned, held, restless or unproven: p, since when and until when, or h, r or i and
// since when, in seconds.
func (e IndexEntry) aside() string {
	switch {
	case e.AsideSince.IsZero():
		return ""
	case e.Restless:
		return "r" + seconds(e.AsideSince)
	case e.Unproven:
		return "i" + seconds(e.AsideSince)
	case e.PinnedUntil.IsZero():
		return "h" + seconds(e.AsideSince)
	}
	return "p" + seconds(e.AsideSince) + "-" + seconds(e.PinnedUntil)
}

func seconds(at time.Time) string { return strconv.FormatInt(at.Unix(), 16) }

// hashSize is the length of a hash in a sort key.
const hashSize = 8

// frequent is how a sort key says that a box calls too often, behind the hash.
const frequent = "f"

// labelled are how a sort key says that a box is mislabelled, behind that.
var labelled = map[Form]string{"": "", Alike: "l", IgnoreBuild: "m"}

// setAside parses what aside writes.
func (e *IndexEntry) setAside(text string) error {
	if text == "" {
		return nil
	}
	since, until, _ := strings.Cut(text[1:], "-")
	var err error
	e.Restless, e.Unproven = text[0] == 'r', text[0] == 'i'
	if e.AsideSince, err = parseSeconds(since); err == nil && text[0] == 'p' {
		e.PinnedUntil, err = parseSeconds(until)
	}
	return err
}

func parseSeconds(text string) (time.Time, error) {
	n, err := strconv.ParseInt(text, 16, 64)
	return time.Unix(n, 0).UTC(), err
}

// StateKey is the sort key of the index: version, state, stage, hash and box. The hash is followed by whether the box
// calls too often, whether it is mislabelled, whether it is pinned or held and, after a dot, by the time of the registration, since the index has no attributes for them.
func (e IndexEntry) StateKey() string {
	version, state := e.Version, string(e.State)
	if version == "" {
		version, state = absent, absent
	}
	place := e.Hash
	if e.Frequent {
		place += frequent
	}
	place += labelled[e.Mislabelled] + e.aside()
	if !e.RegisteredAt.IsZero() {
		place += "." + seconds(e.RegisteredAt)
	}
	return strings.Join([]string{version, state, strconv.Itoa(e.Stage), place, e.EdgeID}, separator)
}

// StatePrefix is the prefix of the sort keys of all entries with a version and a state.
func StatePrefix(version string, s State) string { return version + separator + string(s) + separator }

// IndexEntryOf parses an entry's sort key.
func IndexEntryOf(stateKey string) (IndexEntry, error) {
	parts := strings.Split(stateKey, separator)
	if len(parts) != 5 {
		return IndexEntry{}, fmt.Errorf("report: %q is not a sort key of the index", stateKey)
	}
	stage, err := strconv.Atoi(parts[2])
	if err != nil {
		return IndexEntry{}, fmt.Errorf("report: %q is not a sort key of the index: %w", stateKey, err)
	}
	hash, registered, dated := strings.Cut(parts[3], ".")
	size := min(len(hash), hashSize)
	e := IndexEntry{State: State(parts[1]), Stage: stage, Hash: hash[:size], EdgeID: parts[4]}
	marks, often := strings.CutPrefix(hash[size:], frequent)
	e.Frequent = often
	for form, mark := range labelled {
		if rest, is := strings.CutPrefix(marks, mark); is && mark != "" {
			marks, e.Mislabelled = rest, form
			break
		}
	}
	if err := e.setAside(marks); err != nil {
		return IndexEntry{}, fmt.Errorf("report: %q is not a sort key of the index: %w", stateKey, err)
	}
	e.Version, e.Trace = strings.CutPrefix(parts[0], traced)
	if dated {
		if e.RegisteredAt, err = parseSeconds(registered); err != nil {
			return IndexEntry{}, fmt.Errorf("report: %q is not a sort key of the index: %w", stateKey, err)
		}
	}
	if e.Version == absent {
		e.Version, e.State = "", ""
	}
	return e, nil
}
