package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/platform/setting"
)

// Shards is how many partitions of the index the rows of one release channel are spread over. An index
// key takes about 1,000 writes a second and a box that moves on makes two, so 32 take 16,000 boxes a
// second: a million offers within the minute in which a fleet polls. See setting.ReportShards.
type Shards int

// ReadShards reads the setting.
func ReadShards(r *setting.Reader) Shards { return Shards(r.Number(setting.ReportShards)) }

// Of is the partition that a box's row lies in: its release channel, written edgeType/channel, and a
// number.
func (n Shards) Of(pair, edgeID string) string {
	sum := sha256.Sum256([]byte(edgeID))
	return n.At(pair, int(sum[4])%int(n))
}

// At is one of the partitions that the rows of a release channel lie in; i is from 0 to n-1.
func (n Shards) At(pair string, i int) string { return fmt.Sprintf("%s#%02d", pair, i) }

// An Entry is a row as the index holds it.
type Entry struct {
	EdgeID    string
	Version   string // that was offered; empty: none was
	Stand     Stand  // empty without an offer
	Stage     int
	Hash      string // places boxes at random: those with the least are a random sample
	RolloutID string
	Code      Code
	Since     time.Time // of the stand; zero without an offer
	Running   string
	FactoryID string
	// OrganizationID is whom the box belongs to.
	OrganizationID string
}

// Entry is the row's.
func (r Row) Entry() Entry {
	e := Entry{EdgeID: r.EdgeID, Hash: hash(r.EdgeID), Running: r.Running, FactoryID: r.FactoryID, OrganizationID: r.OrganizationID}
	if o := r.Offer; o != nil {
		e.Version, e.Stand, e.Stage, e.RolloutID, e.Code, e.Since = o.Version, o.Stand, o.Stage, o.RolloutID, o.Code, o.Since
	}
	return e
}

func hash(edgeID string) string {
	sum := sha256.Sum256([]byte(edgeID))
	return hex.EncodeToString(sum[:4])
}

// The parts of a standing are joined by separator, which none of them holds. absent stands for the
// version and the stand of a row without an offer; no version begins so.
const (
	separator = "#"
	absent    = "-"
)

// Standing is the sort key of the index: version, stand, stage, hash and box.
func (e Entry) Standing() string {
	version, stand := e.Version, string(e.Stand)
	if version == "" {
		version, stand = absent, absent
	}
	return strings.Join([]string{version, stand, strconv.Itoa(e.Stage), e.Hash, e.EdgeID}, separator)
}

// Standings is what the sort keys of all entries begin with that have a version at a stand.
func Standings(version string, s Stand) string { return version + separator + string(s) + separator }

// EntryOf reads back what the sort key of an entry tells.
func EntryOf(standing string) (Entry, error) {
	parts := strings.Split(standing, separator)
	if len(parts) != 5 {
		return Entry{}, fmt.Errorf("report: %q is no sort key of the index", standing)
	}
	stage, err := strconv.Atoi(parts[2])
	if err != nil {
		return Entry{}, fmt.Errorf("report: %q is no sort key of the index: %w", standing, err)
	}
	e := Entry{Version: parts[0], Stand: Stand(parts[1]), Stage: stage, Hash: parts[3], EdgeID: parts[4]}
	if e.Version == absent {
		e.Version, e.Stand = "", ""
	}
	return e, nil
}
