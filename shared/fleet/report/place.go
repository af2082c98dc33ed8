package report

import (
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
	Version   string // that was offered; empty: none was
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
	// Trace is set for what a box did before its registration changed; see trace.
	Trace bool
}

// Entry returns the row's index entry.
func (r Row) Entry() IndexEntry {
	e := IndexEntry{EdgeID: r.EdgeID, Hash: hash(r.EdgeID), Running: r.Running, FactoryID: r.FactoryID, OrganizationID: r.OrganizationID}
	if r.RegisteredAt != nil {
		e.RegisteredAt = r.RegisteredAt.Truncate(time.Second)
	}
	if o := r.Offer; o != nil {
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

// StateKey is the sort key of the index: version, state, stage, hash and box. After a dot, the hash has the time of the
// registration, since the index has no attribute for it. Earlier releases of the service take both together as the hash.
func (e IndexEntry) StateKey() string {
	version, state := e.Version, string(e.State)
	if version == "" {
		version, state = absent, absent
	}
	place := e.Hash
	if !e.RegisteredAt.IsZero() {
		place += "." + strconv.FormatInt(e.RegisteredAt.Unix(), 16)
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
	e := IndexEntry{State: State(parts[1]), Stage: stage, Hash: hash, EdgeID: parts[4]}
	e.Version, e.Trace = strings.CutPrefix(parts[0], traced)
	if dated {
		seconds, err := strconv.ParseInt(registered, 16, 64)
		if err != nil {
			return IndexEntry{}, fmt.Errorf("report: %q is not a sort key of the index: %w", stateKey, err)
		}
		e.RegisteredAt = time.Unix(seconds, 0).UTC()
	}
	if e.Version == absent {
		e.Version, e.State = "", ""
	}
	return e, nil
}
