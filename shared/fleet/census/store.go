package census

import (
	"context"
	"errors"
	"time"

	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// A Progress says how far a rollout is.
type Progress struct {
	RolloutID     string        `json:"rolloutId"`
	AsOf          time.Time     `json:"asOf"` // when it was counted
	StagedPercent int           `json:"staged_percent"`
	Stages        []StageCounts `json:"stages"`
	// Failures counts the failed boxes by why they failed.
	Failures map[report.FailureCode]int `json:"failures"`
	Silent   Silence                    `json:"silent"`
	// Young counts the boxes that were registered since the start. The guard judges them apart, unless NewFleet is set.
	Young    int  `json:"young,omitempty"`
	NewFleet bool `json:"newFleet,omitempty"`
	// Pinned and Held count the boxes of the channel that somebody's word keeps on another version.
	Pinned int `json:"pinned,omitempty"`
	Held   int `json:"held,omitempty"`
	// Restless counts those of which nobody can tell what they say about the release. The guard does not count them.
	Restless int `json:"restless,omitempty"`
	// Frequent counts those that call too often; see report.Row.Often.
	Frequent int `json:"frequent,omitempty"`
	// Mislabelled counts the boxes that run the target and say so in other words; see report.Form.
	Mislabelled int `json:"mislabelled,omitempty"`
	// Returning and Returned are only for a rollout that was returned: boxes that still run its target, and boxes that were
	// told the channel's version and run another one now.
	Returning int `json:"returning,omitempty"`
	Returned  int `json:"returned,omitempty"`
	// Waiting says how many boxes that the rollout reaches were not told because of their plants; nil: none.
	Waiting *AtPlants `json:"waiting,omitempty"`
	// Factories holds the same by factory, if asked for; MoreFactories is how many are omitted.
	Factories     []FactoryCounts `json:"factories,omitempty"`
	MoreFactories int             `json:"moreFactories,omitempty"`
	// Guard is the guard's judgement if the rollout has a policy.
	Guard *Judgement `json:"guard,omitempty"`
	// Work is what boxes said of the policy's health numbers at some times, in order.
	Work []guard.Reading `json:"work,omitempty"`

	unreadable Unreadable // boxes that were not counted
}

// FactoryCounts counts the boxes of one factory that the rollout reaches. ID is empty for boxes without a factory.
type FactoryCounts struct {
	FactoryID string `json:"factoryId,omitempty"`
	guard.Counts
	// TimeZone is that of the factory's windows. Waits is what boxes wait for that were not told, and OpensAt until when.
	TimeZone string     `json:"timeZone,omitempty"`
	Waits    string     `json:"waits,omitempty"`
	OpensAt  *time.Time `json:"opensAt,omitempty"`
	// Overdue is set if they wait for a window, and the release is for security and past its deadline.
	Overdue bool `json:"overdue,omitempty"`
}

// ChannelVersions counts which boxes of a release channel run what.
type ChannelVersions struct {
	EdgeType string         `json:"edgeType"`
	Channel  string         `json:"channel"`
	AsOf     time.Time      `json:"asOf"`
	Boxes    int            `json:"boxes"`
	Unknown  int            `json:"unknown"` // of these, those that never said what they run, or have an unreadable row
	Versions []VersionCount `json:"versions"`
	// Pinned and Held count the boxes that somebody's word keeps on another version. OldestPin is the pin that began first.
	Pinned int `json:"pinned,omitempty"`
	Held   int `json:"held,omitempty"`
	// ImportedUnknown counts the boxes from another server that have not said what they run.
	ImportedUnknown int        `json:"importedUnknown,omitempty"`
	Frequent        int        `json:"frequent,omitempty"` // boxes that call too often
	OldestPin       *OldestPin `json:"oldestPin,omitempty"`
	// AtClosedPlants counts the boxes whose plant takes no updates at this time, without the pinned ones.
	AtClosedPlants int `json:"atClosedPlants,omitempty"`
	// OptedOut are those whose plant opted out instead, by organization; mostOptedOut at most.
	OptedOut []OptedOut `json:"optedOut,omitempty"`
	// OtherVersions is how many boxes run a version that is not listed.
	OtherVersions int `json:"otherVersions"`
	// Cut is set if a version that was published may be one of these.
	Cut bool `json:"cut,omitempty"`
}

// A Reader reads counts of rollouts, and counts channels: what does not depend on when boxes were last seen.
type Reader struct {
	db       *dynamo.DB
	reports  *report.Store
	rollouts *rollout.Store
	releases *release.Store
	freezes  *freeze.Store
	settings Settings
}

// NewReader makes a reader.
func NewReader(db *dynamo.DB, settings Settings) *Reader {
	return &Reader{
		db: db, reports: report.NewStore(db, settings.Shards), rollouts: rollout.NewStore(db), releases: release.NewStore(db),
		freezes: freeze.NewStore(db), settings: settings,
	}
}

// A Store counts the boxes of rollouts and stores the results.
type Store struct {
	*Reader
	seen report.LastSeen
}

// NewStore makes a store.
func NewStore(db *dynamo.DB, settings Settings, seen report.LastSeen) *Store {
	return &Store{NewReader(db, settings), seen}
}

// How old a count in an answer may be, with and without the parameter fresh. An active rollout is counted once a
// minute, so the second age matters only if ticks fail or the rollout has ended.
const (
	freshAge = 10 * time.Second
	countAge = 90 * time.Second
)

// OfRollout is a request for a rollout's count, which can be split by factory.
type OfRollout struct {
	ID               string
	ByFactory, Fresh bool
}

// OfRolloutOf reads the path parameter id, and the query parameters by and fresh.
func OfRolloutOf(in *input.Reader) OfRollout {
	r := OfRollout{ID: in.Path("id", input.UUID)}
	_, r.ByFactory = in.Query("by", byRule)
	r.Fresh = in.Flag("fresh")
	return r
}

var byRule = &input.Text{Pattern: `factory`, Says: "factory"}

// OfChannel is a request for a channel's count.
type OfChannel struct {
	release.Name
	Fresh bool
}

// OfChannelOf reads the channel in the path, and the query parameter fresh.
func OfChannelOf(in *input.Reader) OfChannel {
	return OfChannel{release.NameOf(in), in.Flag("fresh")}
}

func (s Settings) ageOf(fresh bool) time.Duration {
	if fresh {
		return s.fresh()
	}
	return countAge
}

// Rollout returns how far a rollout is, from the last count. It counts again if the last count is old, or if fresh is
// set and the last count is ten seconds old. Such a count is stored apart from those of the ticks: it shows the guard's
// verdict, but the guard neither acts on it nor uses it as one of its looks. If the rollout's channel carries another
// rollout by now, the last count is final. It returns NOT_FOUND, and UNAVAILABLE while the first count is being made.
//
// Counts by factory are made on request. Factories with the most failed and reverted boxes come first.
func (s *Store) Rollout(ctx context.Context, id string, byFactory, fresh bool) (Progress, error) {
	age := s.settings.ageOf(fresh)
	if byFactory {
		return s.ofRollout(ctx, id, partFactories, s.countFactories, age)
	}
	var ticked head[Progress]
	var known known
	reads := []func(context.Context) error{
		func(ctx context.Context) (err error) {
			ticked, err = readHead[Progress](ctx, s.db, id, partLatest)
			return err
		},
		func(ctx context.Context) (err error) {
			known, err = s.known(ctx, id, partFresh)
			return err
		},
	}
	if !fresh { // usually, the last count is recent enough
		reads = reads[:1]
	}
	if err := dynamo.Together(ctx, reads...); err != nil {
		return Progress{}, err
	}
	last := ticked.Answer
	if last != nil && s.db.Now().Sub(last.AsOf) < age {
		return *last, nil
	}
	if !fresh {
		var err error
		if known, err = s.known(ctx, id, partFresh); err != nil {
			return Progress{}, err
		}
	}
	p, err := s.answer(ctx, known, age, func(ctx context.Context, r rollout.Rollout, _ *Progress) (Progress, Hour, error) {
		return s.count(ctx, r, last)
	})
	if last != nil && (err == nil && p.AsOf.Before(last.AsOf) || errors.Is(err, errCounting) || problem.Has(err, problem.NotFound)) {
		return *last, nil
	}
	return p, err
}

// Channel returns which boxes of a channel run what. It counts on request. It returns NOT_FOUND for a channel that does
// not exist.
func (s *Reader) Channel(ctx context.Context, edgeType, channel string, fresh bool) (ChannelVersions, error) {
	return s.versions(ctx, edgeType, channel, func(*ChannelVersions) time.Duration { return s.settings.ageOf(fresh) }, func(ctx context.Context) error {
		_, err := s.releases.Get(ctx, edgeType, channel)
		return err
	})
}

// Recent is Channel for a channel that need not exist. If it has many boxes, it is counted at most once a day.
func (s *Reader) Recent(ctx context.Context, edgeType, channel string) (ChannelVersions, error) {
	return s.versions(ctx, edgeType, channel, func(last *ChannelVersions) time.Duration {
		if last != nil && last.Boxes > manyBoxes {
			return 24 * time.Hour
		}
		return s.settings.fresh()
	})
}

// manyBoxes is how many boxes of a channel are counted again whenever somebody asks what uses an artifact.
const manyBoxes = 10_000

// versions is the last count of a channel, if it is not older than it may be, or a new one.
func (s *Reader) versions(ctx context.Context, edgeType, channel string, age func(last *ChannelVersions) time.Duration, beside ...func(context.Context) error) (ChannelVersions, error) {
	var h head[ChannelVersions]
	err := dynamo.Together(ctx, append(beside, func(ctx context.Context) (err error) {
		h, err = readHead[ChannelVersions](ctx, s.db, "channel#"+release.Pair(edgeType, channel), partLatest)
		return err
	})...)
	if err != nil {
		return ChannelVersions{}, err
	}
	return counted(ctx, s, h, age(h.Answer), func(ctx context.Context, _ *ChannelVersions) (ChannelVersions, afterwards, error) {
		c, err := s.countChannel(ctx, edgeType, channel)
		return c, nothing, err
	})
}

// A counter counts a rollout again, given the last count. It also returns the hour of the history that the count
// belongs to.
type counter func(ctx context.Context, r rollout.Rollout, last *Progress) (Progress, Hour, error)

// known is what is known about a rollout before it is counted.
type known struct {
	rollout rollout.Rollout // the zero Rollout if there is none
	head    head[Progress]
}

func (s *Store) known(ctx context.Context, id, part string) (k known, err error) {
	err = dynamo.Together(ctx,
		func(ctx context.Context) (err error) {
			k.rollout, _, err = s.rollouts.Find(ctx, id)
			return err
		},
		func(ctx context.Context) (err error) {
			k.head, err = readHead[Progress](ctx, s.db, id, part)
			return err
		})
	return k, err
}

func (s *Store) ofRollout(ctx context.Context, id, part string, count counter, age time.Duration) (Progress, error) {
	k, err := s.known(ctx, id, part)
	if err != nil {
		return Progress{}, err
	}
	return s.answer(ctx, k, age, count)
}

// answer returns the last count of a rollout, or counts it if its channel still carries it.
func (s *Store) answer(ctx context.Context, k known, age time.Duration, count counter) (Progress, error) {
	r := k.rollout
	if r.ID == "" {
		return Progress{}, problem.Missing()
	}
	carried := func(ctx context.Context) error {
		row, err := s.releases.Row(ctx, r.EdgeType, r.Channel)
		if err == nil && (row.Rollout == nil || row.Rollout.ID != r.ID) {
			err = errGone
		}
		return err
	}
	var err error
	beside := []func(context.Context) error{carried}
	if r.Status != rollout.Active { // the channel may carry another rollout, so check before claiming the count
		err, beside = carried(ctx), nil
	}
	var p Progress
	if err == nil {
		p, err = counted(ctx, s.Reader, k.head, age, func(ctx context.Context, last *Progress) (Progress, afterwards, error) {
			p, hour, err := count(ctx, r, last)
			return p, func(ctx context.Context) error { return s.remember(ctx, hour, p) }, err
		}, beside...)
	}
	if errors.Is(err, errGone) && k.head.Answer != nil {
		return *k.head.Answer, nil
	}
	return p, err
}

// errGone is the answer for a rollout that was never counted while it was active.
var errGone = problem.New(problem.NotFound, "The rollout was never counted while it was active, and its channel has moved on.")

// Parts of a subject in the table, besides its hours.
const (
	partLatest    = "latest" // by a tick
	partFresh     = "fresh"  // for a caller
	partFactories = "factories"
)

// A head is the last answer to a question, and when the last count for it began.
type head[T any] struct {
	Subject  string    `json:"subject"`
	Part     string    `json:"part"`
	Begun    time.Time `json:"begun"`
	AsOf     time.Time `json:"asOf"` // of the answer
	Answer   *T        `json:"answer,omitempty"`
	Revision int64     `json:"revision"`
}

func readHead[T any](ctx context.Context, db *dynamo.DB, subject, part string) (head[T], error) {
	h := head[T]{Subject: subject, Part: part}
	_, err := db.Get(ctx, dynamo.Progress, dynamo.Key{"subject": subject, "part": part}, &h)
	return h, err
}

// afterwards writes more after a count, together with the answer.
type afterwards func(context.Context) error

func nothing(context.Context) error { return nil }

// counted returns the last answer if it is not older than age, otherwise a new one. A count begins at most once in ten
// seconds, no matter how many ask. In between, callers get the last answer. The functions in beside run while the count
// is claimed, and an error from one of them stops it.
func counted[T any](ctx context.Context, s *Reader, h head[T], age time.Duration,
	count func(ctx context.Context, last *T) (T, afterwards, error), beside ...func(context.Context) error) (T, error) {
	var none T
	now := s.db.Now()
	if h.Answer != nil && now.Sub(h.AsOf) < age {
		return *h.Answer, nil
	}
	claimed := h
	claimed.Begun = now
	claimed.Revision++
	var err error
	if now.Sub(h.Begun) >= s.settings.fresh() {
		err = dynamo.Together(ctx, append(beside, func(ctx context.Context) error {
			return s.db.Put(ctx, dynamo.Progress, nil, claimed, dynamo.AtRevision("subject", h.Revision))
		})...)
	}
	if now.Sub(h.Begun) < s.settings.fresh() || dynamo.Refused(err, "item") {
		if h.Answer == nil {
			return none, problem.Wrap(errCounting, problem.Unavailable, "The boxes are being counted for the first time; try again after the given time.").After(2 * time.Second)
		}
		return *h.Answer, nil
	}
	if err != nil {
		return none, err
	}
	answer, afterwards, err := count(ctx, h.Answer)
	if err != nil {
		return none, err
	}
	return answer, dynamo.Together(ctx,
		func(ctx context.Context) error { return keep(ctx, s.db, claimed, answer, now) },
		afterwards)
}

// keep stores an answer, unless there is a later one. h is the head as it was when the count began. The answer is
// stored even if another count has begun since. Otherwise constant requests for new counts could prevent a long count
// from ever being stored, and the guard would have none.
func keep[T any](ctx context.Context, db *dynamo.DB, h head[T], answer T, at time.Time) error {
	for {
		revision := h.Revision
		h.Answer, h.AsOf, h.Revision = &answer, at, revision+1
		err := db.Put(ctx, dynamo.Progress, nil, h, dynamo.AtRevision("subject", revision))
		if !dynamo.Refused(err, "item") {
			return err
		}
		if h, err = readHead[T](ctx, db, h.Subject, h.Part); err != nil || !h.AsOf.Before(at) {
			return err
		}
	}
}
