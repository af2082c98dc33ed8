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

// Shards is how many partitions of the index the rows of one release channel are spread over. An index
// key takes about 1,000 writes a second and a box that moves on makes two, so 32 take 16,000 boxes a
// second: a million offers within the minute in which a fleet polls. See setting.ReportShards, and Moved for more of them.
type Shards int

// ReadShards reads the setting.
func ReadShards(r *setting.Values) Shards { return Shards(r.Number(setting.ReportShards)) }

// Of is the partition that a box's row lies in: its release channel, written edgeType/channel, and a
// number.
func (n Shards) Of(pair, edgeID string) string {
	sum := sha256.Sum256([]byte(edgeID))
	return n.At(pair, int(sum[4])%int(n))
}

// Moved is the partition that a stored row belongs in, and whether it lies in another one. Rows do that were written while
// there were fewer partitions; they are found all the same.
func (n Shards) Moved(stored map[string]types.AttributeValue) (shard string, moved bool, err error) {
	var row item
	if err := dynamo.Decode(stored, &row); err != nil {
		return "", false, err
	}
	shard = n.Of(row.pair(), row.EdgeID)
	return shard, shard != row.Shard, nil
}

// At is one of the partitions that the rows of a release channel lie in; i is from 0 to n-1.
func (n Shards) At(pair string, i int) string { return fmt.Sprintf("%s#%02d", pair, i) }

// An IndexEntry is a row as the index holds it.
type IndexEntry struct {
	EdgeID    string
	Version   string // that was offered; empty: none was
	State     State  // empty without an offer
	Stage     int
	Hash      string // places boxes at random: those with the least are a random sample
	RolloutID string
	Code      FailureCode
	Since     time.Time // of the state; zero without an offer
	Running   string
	FactoryID string
	// OrganizationID is whom the box belongs to.
	OrganizationID string
}

// Entry is the row's.
func (r Row) Entry() IndexEntry {
	e := IndexEntry{EdgeID: r.EdgeID, Hash: hash(r.EdgeID), Running: r.Running, FactoryID: r.FactoryID, OrganizationID: r.OrganizationID}
	if o := r.Offer; o != nil {
		e.Version, e.State, e.Stage, e.RolloutID, e.Code, e.Since = o.Version, o.State, o.Stage, o.RolloutID, o.Code, o.Since
	}
	return e
}

// Place places a box at random among all that there can be: the first 4 bytes, big-endian, of the SHA-256 of its id.
func Place(edgeID string) uint32 {
	sum := sha256.Sum256([]byte(edgeID))
	return binary.BigEndian.Uint32(sum[:4])
}

// hash is the place as a text in the same order.
func hash(edgeID string) string { return fmt.Sprintf("%08x", Place(edgeID)) }

// The parts of a stateKey are joined by separator, which none of them holds. absent stands for the
// version and the state of a row without an offer; no version begins so.
const (
	separator = "#"
	absent    = "-"
)

// StateKey is the sort key of the index: version, state, stage, hash and box.
func (e IndexEntry) StateKey() string {
	version, state := e.Version, string(e.State)
	if version == "" {
		version, state = absent, absent
	}
	return strings.Join([]string{version, state, strconv.Itoa(e.Stage), e.Hash, e.EdgeID}, separator)
}

// StatePrefix is what the sort keys of all entries begin with that have a version at a state.
func StatePrefix(version string, s State) string { return version + separator + string(s) + separator }

// IndexEntryOf reads back what the sort key of an entry tells.
func IndexEntryOf(stateKey string) (IndexEntry, error) {
	parts := strings.Split(stateKey, separator)
	if len(parts) != 5 {
		return IndexEntry{}, fmt.Errorf("report: %q is no sort key of the index", stateKey)
	}
	stage, err := strconv.Atoi(parts[2])
	if err != nil {
		return IndexEntry{}, fmt.Errorf("report: %q is no sort key of the index: %w", stateKey, err)
	}
	e := IndexEntry{Version: parts[0], State: State(parts[1]), Stage: stage, Hash: parts[3], EdgeID: parts[4]}
	if e.Version == absent {
		e.Version, e.State = "", ""
	}
	return e, nil
}
