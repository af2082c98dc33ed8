package proof

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/scripts/lab/proof/fault"
	"wavegate/scripts/lab/proof/history"
	"wavegate/scripts/local/storefront"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/operations"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// TestHistories_OfOneChannel_AreLinearizable plays many short histories against the service's
// packages, with the functions' client, and checks each.
func TestHistories_OfOneChannel_AreLinearizable(t *testing.T) {
	n := count(t, "PROOF_HISTORIES", 150, 10_000)
	onEmbedded(t, n, 0, ofChannels)
}

// TestHistories_UnderFaults_AreLinearizable plays them with faults of the store. A call without
// a clear answer may have made its change or not. Every other answer must be explained.
func TestHistories_UnderFaults_AreLinearizable(t *testing.T) {
	expect.Full(t)
	n := count(t, "PROOF_HISTORIES_FAULTS", 30, 2000)
	onEmbedded(t, n, 0.02, ofChannels)
}

// TestHistories_OnTheReference_AreLinearizable plays them on DynamoDB Local.
func TestHistories_OnTheReference_AreLinearizable(t *testing.T) {
	expect.Full(t)
	onReference(t, func(reference *dynamolocal.Store) {
		onStore(t, reference, count(t, "PROOF_HISTORIES_FAULTS", 30, 2000), ofChannels)
	})
}

// onStore plays histories on one store, with faults.
func onStore(t *testing.T, store *dynamolocal.Store, n int, of kind) {
	t.Helper()
	first := seed(t)
	r := record{seed: first, plan: fault.New(first, 0.02, fault.Everything), of: of}
	r.play(t, store, n)
	r.tell(t)
}

// onEmbedded plays histories on embedded stores. It makes a new store for every few histories,
// because a new item takes longer the more items a store has. The given share of the store's
// calls gets a fault.
func onEmbedded(t *testing.T, n int, share float64, of kind) {
	t.Helper()
	const few = 24
	first := seed(t)
	r := record{seed: first, plan: fault.New(first, share, fault.Everything), of: of}
	for r.histories < n && !t.Failed() {
		embedded := expect.Value(dynamolocal.Embedded())(t)
		r.play(t, embedded, min(few, n-r.histories))
		embedded.Close()
	}
	r.tell(t)
}

// A kind of histories is the resource that they are about.
type kind struct {
	// open makes what the histories need, on a store without faults. The function that it
	// returns makes the function that answers the calls of one history, which has its own name
	// and a store with faults.
	open func(t *testing.T, faultless *dynamo.DB, names string) func(db *dynamo.DB, name string) func(history.Input) history.Output
	play func(seed uint64, size history.Size, service func(history.Input) history.Output) *history.History
	// answers are the problems that must occur in a run.
	answers []problem.Code
}

// ofChannels are histories of one release channel each.
var ofChannels = kind{
	open: func(*testing.T, *dynamo.DB, string) func(*dynamo.DB, string) func(history.Input) history.Output {
		return func(db *dynamo.DB, name string) func(history.Input) history.Output {
			s := &direct{releases: release.NewStore(db), publications: publication.NewStore(db), rollouts: rollout.NewStore(db),
				edgeType: name, channel: "stable"}
			return toCaller(s.answer)
		}
	},
	play: history.Play,
	answers: []problem.Code{problem.PreconditionFailed, problem.InvalidStateTransition, problem.RolloutActive,
		problem.ReleaseImmutable, problem.ReleaseNotPublished},
}

// A record counts the histories of one test.
type record struct {
	of        kind
	seed      uint64 // of the first history; each later one has the next
	plan      *fault.Plan
	histories int
	calls     atomic.Int64

	mu      sync.Mutex
	answers map[string]int // by their text
}

func (r *record) note(out history.Output) {
	said := string(out.Code)
	switch {
	case out.Lost:
		said = "nothing"
	case said == "":
		said = "done"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil {
		r.answers = map[string]int{}
	}
	r.answers[said]++
}

// play plays n histories, several at a time, each on its own channel.
func (r *record) play(t *testing.T, behind *dynamolocal.Store, n int) {
	t.Helper()
	expect.OK(t, dynamolocal.CreateTables(t.Context(), behind.Client()))
	db, end := throughFront(t, behind, r.plan)
	defer end()
	// The reference may still contain data of an earlier run.
	names := fmt.Sprintf("gateway-%d-%d", os.Getpid(), time.Now().UnixNano())
	before := func() time.Time { return time.Now().Add(-time.Hour) } // all that the histories register is younger
	open := r.of.open(t, dynamo.Open(behind.Client(), before), names)
	var next atomic.Int64
	var players sync.WaitGroup
	for range 8 {
		players.Go(func() {
			for i := int(next.Add(1)); i <= n && !t.Failed(); i = int(next.Add(1)) {
				service := open(db, fmt.Sprintf("%s-%d", names, i))
				seed := r.seed + uint64(r.histories+i)
				h := r.of.play(seed, history.Size{Clients: 4, Calls: 4}, func(in history.Input) history.Output {
					out := service(in)
					r.note(out)
					return out
				})
				r.calls.Add(int64(h.Len()))
				err := h.Check()
				expect.That(t, err == nil, "seed %d: %v", seed, err)
			}
		})
	}
	players.Wait()
	r.histories += n
}

func (r *record) tell(t *testing.T) {
	t.Helper()
	t.Logf("%d histories of %d calls; answers: %v; faults met: %v", r.histories, r.calls.Load(), r.answers, r.plan.Met())
	for _, code := range r.of.answers {
		expect.That(t, r.answers[string(code)] != 0,
			"no call was answered with %s: the histories do not cover it", code)
	}
	if !t.Failed() {
		t.Logf("all %d histories are linearizable", r.histories)
	}
}

// throughFront opens a store for the domain behind a front. The front delays some calls a
// little, so that they overlap in many ways, and gives others the faults of the plan.
func throughFront(t *testing.T, behind *dynamolocal.Store, plan *fault.Plan) (db *dynamo.DB, end func()) {
	t.Helper()
	const function = "histories"
	var grants []operations.Grant
	for _, table := range dynamo.Tables {
		grants = append(grants, operations.Grant{Table: table.ID, Actions: []dynamo.Permission{dynamo.Get, dynamo.Put, dynamo.Update}})
	}
	// A start looks for an earlier rollout of its version.
	grants = append(grants, operations.Grant{Table: dynamo.Rollouts, Actions: []dynamo.Permission{dynamo.Query}, Indexes: []string{"byChannel"}, OnlyIndexes: true})
	front, err := storefront.Start(storefront.Options{
		Endpoint: behind.Endpoint, Grants: map[string][]operations.Grant{function: grants}, TableName: dynamolocal.TableName})
	expect.OK(t, err)
	front.Intercept(plan.Effect)
	front.Intercept(func(*storefront.Call) storefront.Effect {
		if rand.IntN(3) > 0 {
			return storefront.Effect{}
		}
		return storefront.Effect{Delay: rand.N(3 * time.Millisecond)}
	})
	for name, value := range map[string]string{
		"AWS_REGION": dynamolocal.Region, "AWS_ACCESS_KEY_ID": storefront.AccessKey(function), "AWS_SECRET_ACCESS_KEY": "local",
		"AWS_SESSION_TOKEN": "local", "AWS_ENDPOINT_URL_DYNAMODB": front.URL(),
	} {
		t.Setenv(name, value)
	}
	for _, table := range dynamo.Tables {
		t.Setenv(table.ID.EnvName(), dynamolocal.TableName(table.ID))
	}
	return dynamo.Open(dynamo.NewClient(), time.Now), func() { front.Close() }
}

// direct makes a history's calls to the service's packages directly.
type direct struct {
	releases          *release.Store
	publications      *publication.Store
	rollouts          *rollout.Store
	edgeType, channel string
}

// toCaller turns the result of the domain into the answer that a caller gets.
func toCaller(answer func(context.Context, history.Input) (history.Output, error)) func(history.Input) history.Output {
	return func(in history.Input) history.Output {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		out, err := answer(ctx, in)
		switch p := problem.From(err); {
		case err == nil:
			return out
		case p.Code == problem.Unavailable || p.Code == problem.Timeout:
			return history.Output{Lost: true}
		default:
			return history.Output{Code: p.Code}
		}
	}
}

var from = audit.Origin{Actor: audit.Actor{Issuer: "https://people.example", UserID: "olga"}, RequestID: "histories"}

func (s *direct) answer(ctx context.Context, in history.Input) (out history.Output, err error) {
	when := preconditions(input.Revision(in.IfMatch))
	switch in.Action {
	case history.Publish:
		when := preconditions(etagOf(in.IfTag))
		made, refused := s.publications.Publish(admission.Unlimited(ctx), from, release.Publication{
			EdgeType: s.edgeType, Channel: s.channel, CurrentVersion: in.Version, SHA256: strings.Repeat(in.Digest, 64),
			ArtifactURL: "https://artifacts.example/" + in.Version + "/" + in.Digest,
		}, when)
		out.Created, err = made.Created, refused
	case history.Start:
		plan := rollout.Plan{EdgeType: s.edgeType, Channel: s.channel, TargetVersion: in.Version}
		out.ID, err = s.rollouts.Start(admission.Unlimited(ctx), from, plan, idempotency.Claim{})
	case history.Move:
		m := rollout.Move{Status: rollout.Status(in.Status), Return: in.Return}
		if in.Percent != 0 {
			m.StagedPercent = &in.Percent
		}
		_, err = s.rollouts.Move(admission.Unlimited(ctx), from, in.Rollout, m, when)
	case history.ReadChannel:
		var row release.ChannelRow
		row, err = s.releases.Get(ctx, s.edgeType, s.channel)
		out.Channel, out.Tag = channelOf(row.Channel), tagOf(row.ETag())
	case history.ReadRollout:
		var r rollout.Rollout
		r, err = s.rollouts.Get(ctx, in.Rollout)
		out.Rollout = history.Rollout{Target: r.TargetVersion, Digest: digestOf(r.SHA256), Previous: r.PreviousVersion,
			Percent: r.StagedPercent, Status: string(r.Status), Ended: string(r.EndedBy), Adopted: r.Adopted, Completed: r.CompletedAt != nil, Returned: r.ReturnedAt != nil, Revision: r.Revision}
	case history.ReadRow:
		var row release.ChannelRow
		row, err = s.releases.Row(ctx, s.edgeType, s.channel)
		out.Channel, out.Tag = channelOf(row.Channel), tagOf(row.ETag())
		var keeps []string
		for _, target := range row.Remembered() {
			keeps = append(keeps, target.Version)
		}
		slices.Sort(keeps)
		out.Keeps = strings.Join(keeps, " ")
		if c := row.Rollout; c != nil {
			out.Carried = history.Carried{ID: c.ID, Target: c.TargetVersion, Percent: c.StagedPercent, Active: c.Active, Revision: c.Revision}
		}
	}
	return out, err
}

func channelOf(c release.Channel) history.Channel {
	return history.Channel{Version: c.CurrentVersion, Digest: digestOf(c.SHA256), Revision: c.Revision}
}

// digestOf is the letter that a digest repeats.
func digestOf(sha256 string) string {
	if sha256 == "" {
		return ""
	}
	return sha256[:1]
}

// tagForm is the form of a channel's entity tag: a revision and, if the row has a rollout, its
// id and revision.
var tagForm = regexp.MustCompile(`^"(\d+)(?:-([0-9a-f-]{36})-(\d+))?"$`)

func tagOf(etag string) history.Tag {
	m := tagForm.FindStringSubmatch(etag)
	if m == nil {
		return history.Tag{}
	}
	revision, _ := strconv.ParseInt(m[1], 10, 64)
	moves, _ := strconv.ParseInt(m[3], 10, 64)
	return history.Tag{Revision: revision, Rollout: m[2], Moves: moves}
}

func etagOf(t history.Tag) string {
	switch {
	case t == history.Tag{}:
		return ""
	case t.Rollout == "":
		return fmt.Sprintf(`"%d"`, t.Revision)
	}
	return fmt.Sprintf(`"%d-%s-%d"`, t.Revision, t.Rollout, t.Moves)
}

func preconditions(etag string) input.Preconditions {
	r := httptest.NewRequest(http.MethodPatch, "/", nil)
	if etag != "" {
		r.Header.Set("If-Match", etag)
	}
	return input.Of(r, input.Takes{Conditions: true}).Preconditions()
}
